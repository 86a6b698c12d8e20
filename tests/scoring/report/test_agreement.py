from collections.abc import Sequence

import pytest

from annotation.models import Batch, Exclusion, Kind, Study
from annotation.studies.lifecycle import start_study
from scoring.analysis.uncertainty import agreement
from scoring.cells.cells import CellReader
from scoring.cells.scope import Choices, Scope
from scoring.cells.vectors import judged_answers
from scoring.comparison.comparing import compare
from scoring.core.agreement import alpha_interval, pairwise_s1_interval
from scoring.report.documents import as_latex, as_text, report_on
from scoring.report.methods import Section, Topic
from tests import make
from tests.scoring.comparison import measured

pytestmark = pytest.mark.django_db


def section_of(study: Study) -> Section | None:
    sections = report_on(Study.objects.get(pk=study.pk)).sections
    return next((section for section in sections if section.title == "Agreement"), None)


def topic_of(study: Study, name: str) -> Topic:
    [topic] = [topic for topic in report_on(study).topics if topic.name == name]
    return topic


def test_tells_agreement_and_consensus_from_the_kept_analysis() -> None:
    batch = measured.cell([3, 4, 6], tests=6, kind=Kind.SPANS)
    measured.analysed(batch.study)
    section = section_of(batch.study)
    answers = judged_answers([assignment.pk for assignment in batch.assignments.all()])
    examples = [item.example_id for item in batch.test_set.items.all()]
    units = [[given[pk] for given in answers.values()] for pk in examples]
    [text] = section.paragraphs
    alpha, pairs = alpha_interval(units).value, pairwise_s1_interval(units).value
    assert f"Alpha with MASI was {alpha:.2f} (" in text
    assert f"the mean S1 of pairs was {100 * pairs:.1f} (" in text
    assert "nominal alpha on whole answers was" in text
    assert "percentile bootstrap interval over contexts" in text
    [cell] = CellReader(Choices()).people(batch.study)
    known = agreement(cell, None, seed=Choices().seed)
    [record] = section.table.records
    assert list(record.values())[:5] == [
        batch.task.slug,
        3,
        3,
        f"{known['masi']:.2f}",
        f"{known['masi_low']:.2f} to {known['masi_high']:.2f}",
    ]
    [consensus] = compare(Scope(batch.task.benchmark, batch.study)).consensus
    assert record["consensus"] == f"{consensus.mean:.1f}"
    assert f"and the S1 of the consensus was {consensus.mean:.1f}." in text


def test_stands_in_both_documents_and_in_the_sheet() -> None:
    batch = measured.cell([3, 4, 6], tests=6, kind=Kind.SPANS)
    measured.analysed(batch.study)
    report = report_on(batch.study)
    for document in (as_text(report, ["methods"]), as_latex(report, ["methods"])):
        assert "Krippendorff" in document
        assert "Consensus" in document
    assert "Alpha with MASI was" in topic_of(batch.study, "Uncertainty").answer
    assert "the consensus is given beside it" in topic_of(batch.study, "Same scoring").answer


def two_cells(
    first: Sequence[int],
    second: Sequence[int],
    *,
    tests: tuple[int, int] = (6, 6),
) -> tuple[Batch, Batch]:
    """Two tasks of one study, each completed with this many wrong answers."""
    benchmark = make.benchmark()
    study = make.study(benchmark)
    batches = [
        make.batch(study, make.task(benchmark, kind=Kind.SPANS, tests=items), wanted=5)
        for items in tests
    ]
    start_study(study, at=make.NOON)
    for batch, people in zip(batches, (first, second), strict=True):
        batch.refresh_from_db()
        for wrong in people:
            make.worked_through(batch, wrong=wrong)
    measured.analysed(study)
    return batches[0], batches[1]


def test_gives_the_least_and_the_most_of_several_cells() -> None:
    low, high = two_cells([3, 9], [0, 0])
    section = section_of(low.study)
    assert len(section.table.lines) == 2
    [text] = section.paragraphs
    least, most = f"0.0 ({low.task.slug}, 3 shots)", f"100.0 ({high.task.slug}, 3 shots)"
    assert f"the mean S1 of pairs lay between {least} and {most}" in text


def test_does_not_give_a_range_of_equal_figures() -> None:
    one, _ = two_cells([0, 0], [0, 0])
    assert (
        "the mean S1 of pairs was 100.0 in each of 2 cells" in section_of(one.study).paragraphs[0]
    )


def test_names_the_one_cell_in_which_a_figure_is_defined() -> None:
    spans, _ = two_cells([3, 4], [0, 0], tests=(6, 1))
    [text] = section_of(spans.study).paragraphs
    sentence = text[text.index("nominal alpha on whole answers was") :]
    assert sentence[: sentence.index(")")].endswith(f"; {spans.task.slug}, 3 shots")


def test_says_where_an_alpha_is_not_defined() -> None:
    batch = measured.cell([3, 3], tests=1)
    measured.analysed(batch.study)
    section = section_of(batch.study)
    [record] = section.table.records
    assert (record["nominal"], record["nominal_limits"]) == ("–", "–")
    assert "undefined where no two answers differ" in section.paragraphs[0]
    assert "nominal alpha on whole answers was" not in section.paragraphs[0]


def test_says_nothing_that_is_not_computed_or_is_of_older_data() -> None:
    batch = measured.cell([3, 4, 6])
    assert section_of(batch.study) is None
    assert report_on(batch.study).lacks_agreement
    measured.analysed(batch.study)
    assert section_of(batch.study) is not None
    assert not report_on(batch.study).lacks_agreement
    Exclusion.objects.create(assignment=batch.assignments.last(), reason="random answers")
    assert section_of(batch.study) is None
    assert report_on(batch.study).lacks_agreement
    assert "consensus" not in topic_of(batch.study, "Same scoring").answer


def test_says_nothing_of_one_annotator() -> None:
    alone = measured.cell([3])
    measured.analysed(alone.study)
    assert section_of(alone.study) is None
    assert not report_on(alone.study).lacks_agreement
