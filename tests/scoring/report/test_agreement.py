import pytest

from annotation.models import Exclusion, Kind, Study
from scoring.analysis.uncertainty import agreement
from scoring.cells.cells import CellReader
from scoring.cells.scope import Choices, Scope
from scoring.cells.vectors import judged_answers
from scoring.comparison.comparing import compare
from scoring.core.agreement import alpha_interval, pairwise_s1_interval
from scoring.report.documents import Report, as_latex, as_text
from scoring.report.methods import Section, Topic
from tests.scoring.comparison import measured

pytestmark = pytest.mark.django_db


def section_of(study: Study) -> Section | None:
    sections = Report(Study.objects.get(pk=study.pk)).sections
    return next((section for section in sections if section.title == "Agreement"), None)


def topic_of(study: Study, name: str) -> Topic:
    [topic] = [topic for topic in Report(study).topics if topic.name == name]
    return topic


def test_tells_agreement_and_consensus_from_the_kept_analysis() -> None:
    batch = measured.cell([3, 4, 6], tests=6, kind=Kind.SPANS)
    measured.analysed(batch.study)
    section = section_of(batch.study)
    answers = judged_answers([assignment.pk for assignment in batch.assignments.all()])
    examples = [item.example_id for item in batch.test_set.items.all()]
    units = [[given[pk] for given in answers.values()] for pk in examples]
    assert "bootstrap intervals over contexts" in section.paragraphs[0]
    alpha, pairs = alpha_interval(units).value, pairwise_s1_interval(units).value
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
    assert (record["masi"], record["pairwise"]) == (f"{alpha:.2f}", f"{100 * pairs:.1f}")
    assert record["consensus"] == consensus.mean


def test_stands_in_both_documents_and_in_the_sheet() -> None:
    batch = measured.cell([3, 4, 6], tests=6, kind=Kind.SPANS)
    measured.analysed(batch.study)
    report = Report(batch.study)
    for document in (as_text(report, ["methods"]), as_latex(report, ["methods"])):
        assert "Krippendorff" in document
        assert "Consensus" in document
    assert "is in the methods section" in topic_of(batch.study, "Uncertainty").answer
    assert "the consensus is given beside it" in topic_of(batch.study, "Same scoring").answer


def test_says_where_an_alpha_is_not_defined() -> None:
    batch = measured.cell([3, 3], tests=1)
    measured.analysed(batch.study)
    section = section_of(batch.study)
    [record] = section.table.records
    assert (record["nominal"], record["nominal_limits"]) == (None, None)
    assert "no alpha where no two answers differ" in section.table.title


def test_says_nothing_that_is_not_computed_or_is_of_older_data() -> None:
    batch = measured.cell([3, 4, 6])
    assert section_of(batch.study) is None
    assert Report(batch.study).lacks_agreement
    measured.analysed(batch.study)
    assert section_of(batch.study) is not None
    assert not Report(batch.study).lacks_agreement
    Exclusion.objects.create(assignment=batch.assignments.last(), reason="random answers")
    assert section_of(batch.study) is None
    assert Report(batch.study).lacks_agreement
    assert "consensus" not in topic_of(batch.study, "Same scoring").answer


def test_says_nothing_of_one_annotator() -> None:
    alone = measured.cell([3])
    measured.analysed(alone.study)
    assert section_of(alone.study) is None
    assert not Report(alone.study).lacks_agreement
