import pytest

from annotation.benchmarks.correcting import correct_gold
from annotation.models import (
    Batch,
    Benchmark,
    Channel,
    Exclusion,
    JoinAnswer,
    Kind,
    Normalisation,
    Study,
    Task,
)
from annotation.studies.lifecycle import close_study
from annotation.work.joining import count_answer, renew_resume_link
from scoring.report.documents import PARTS, as_text, report_on
from scoring.report.facts import NORMALISED, Facts
from scoring.report.methods import Section, methods, sheet
from tests import make
from tests.scoring.comparison import measured

pytestmark = pytest.mark.django_db


def sections_of(study: Study) -> dict[str, Section]:
    return {section.title: section for section in methods(Facts(Study.objects.get(pk=study.pk)))}


def text_of(study: Study, title: str = "") -> str:
    sections = sections_of(study)
    wanted = [sections[title]] if title else sections.values()
    return " ".join(" ".join(section.paragraphs) for section in wanted)


def simulate(batch: Batch) -> None:
    Channel.objects.filter(annotators__assignments__batch=batch).update(is_simulated=True)


def test_writes_the_names_of_tasks_as_papers_have_them() -> None:
    batch = measured.cell([3, 4, 5, 6, 7], tests=6)
    Task.objects.update(slug="sst2", name="SST-2")
    batch.task.refresh_from_db()
    measured.run(batch.task, wrong=2)
    Exclusion.objects.create(assignment=batch.assignments.first(), reason="too fast")
    facts = Facts(Study.objects.get(pk=batch.study.pk))
    report = report_on(facts.study)
    text = as_text(report, PARTS)
    assert "Items of the test: SST-2 6." in text
    assert "SST-2" in {cell.row.task for cell in facts.results.cells}
    assert {test.task for test in facts.results.tests} == {"SST-2"}
    # What annotators saw above their work; this task has no title.
    assert "sst2" not in text.replace("“sst2”", "")


def test_tells_of_the_checks() -> None:
    batch = make.running_checked_batch(wanted=3, zero_shot=True)
    for wrong in (0, 4):
        make.worked_through(batch, wrong=wrong)
    text = text_of(batch.study)
    assert "answered 10 checks without feedback" in text
    assert "below 70.0 % on them was screened out, and paid. 1 of 2 was." in text


def test_says_that_the_people_are_known() -> None:
    batch = make.running_batch(wanted=2, known_people="Six linguists.")
    make.worked_through(batch)
    told = "stated before the start that they know them all: “Six linguists.”"
    assert told in text_of(batch.study, "Recruitment")


def test_writes_recruitment_exclusions_training_pay_items_order_and_tests() -> None:
    batch = measured.cell([3, 4, 5, 6, 7], tests=6)
    measured.run(batch.task, wrong=2)
    Exclusion.objects.create(assignment=batch.assignments.first(), reason="too fast")
    close_study(batch.study, at=make.NOON)
    sections = sections_of(batch.study)
    assert list(sections) == [
        "Design",
        "Procedure",
        "Training and screening",
        "Recruitment",
        "Exclusions",
        "Pay",
        "Scoring",
        "Uncertainty",
        "Tests",
        "Data and their terms",
        "Consent as asked for",
        "Instructions as shown",
    ]
    text = text_of(batch.study)
    assert f"Items of the test: {batch.task.slug} 6." in text
    assert "5 people took up 5 assignments; consent was given in 5." in text
    assert "1 of 5 completed assignments (20.0 %) was excluded by the researchers" in text
    assert "“too fast” (1)" in text
    assert f"full batches is {batch.study.seed}." in text
    assert "Time is paid at 12.00 USD an hour" in text
    assert "The effective hourly rate of completed work was" in text
    assert "other people who are recruited in the same way, on other items like these" in text
    assert "1 test of fewer than five annotators is exploratory" in text
    assert [row["shots"] for row in sections["Uncertainty"].table.records] == [3]
    assert sections["Tests"].table.records[0]["against"] == "BERT-Base FT"


def test_writes_a_rehearsal_too_and_says_so_first() -> None:
    batch = measured.cell([1, 2, 3])
    simulate(batch)
    sections = sections_of(batch.study)
    assert (
        sections["Summary"]
        .paragraphs[0]
        .startswith("A rehearsal: 3 finished assignments of simulated annotators, and no person's.")
    )
    assert {"Recruitment", "Pay", "Scoring", "Uncertainty"} <= sections.keys()
    assert [row["n"] for row in sections["Uncertainty"].table.records] == [3]


def test_says_that_simulated_annotators_are_left_out_beside_people() -> None:
    batch = measured.cell([1, 2])
    person, other = batch.assignments.all()
    robot = Channel.objects.create(slug="robots", name="Robots", is_simulated=True)
    other.annotator.channel = robot
    other.annotator.save()
    text = text_of(batch.study, "Summary")
    assert "1 finished assignment of simulated annotators is left out" in text
    assert "1 person took up 1 assignment" in text_of(batch.study, "Recruitment")
    assert person.annotator.channel != robot


def test_says_first_that_nobody_has_begun_the_study() -> None:
    text = text_of(measured.cell([]).study, "Summary")
    assert text.startswith("No person has begun this study")


def test_says_first_that_everybody_was_excluded() -> None:
    batch = measured.cell([1])
    Exclusion.objects.create(assignment=batch.assignments.get(), reason="too fast")
    assert "all completed assignments were excluded" in text_of(batch.study, "Summary")
    assert "Uncertainty" not in sections_of(batch.study)


def test_says_that_figures_are_interim_while_the_study_runs() -> None:
    batch = measured.cell([1, 2])
    assert "The study is open, so the figures below are interim." in text_of(batch.study)
    close_study(batch.study, at=make.NOON)
    assert "interim" not in text_of(batch.study)


def test_says_that_a_draft_can_still_change() -> None:
    benchmark = make.benchmark()
    study = make.study(benchmark)
    make.batch(study, make.task(benchmark))
    assert "has not been started" in text_of(study, "Summary")


def test_writes_the_rule_of_screening_and_what_it_did() -> None:
    batch = make.running_batch(
        training=4, wanted=5, min_training_score=50, max_drop=2, drop_unit="sds", drop_group_size=6
    )
    for wrong in (0, 1, 3):
        make.worked_through(batch, wrong=wrong)
    text = text_of(batch.study, "Training and screening")
    assert "who scores below 50.0 % or scores more than 2 standard deviations below" in text
    assert "once these are 6" in text
    assert "3 people finished a training, with a mean score of 66.7 % (SD 38.2); 1 of them" in text
    assert "Of these, 1 below the floor." in text


def test_marks_small_cells_as_exploratory() -> None:
    small, large = measured.cell([3, 4, 5]), measured.cell([3, 4, 5, 6, 7])
    assert "exploratory" in text_of(small.study, "Uncertainty")
    assert "exploratory" not in text_of(large.study, "Uncertainty")
    table = sections_of(small.study)["Uncertainty"].table
    assert "guard" in table.keys
    assert all(record["guard"] for record in table.records)
    assert "guard" not in sections_of(large.study)["Uncertainty"].table.keys


def test_says_that_an_interval_is_for_these_shot_sets() -> None:
    [first, *_] = measured.study_with_splits(splits=3, people=2)
    assert "the interval is for these shot sets" in text_of(first.study, "Uncertainty")
    # Six people, however many splits they share.
    assert "exploratory" not in text_of(first.study, "Uncertainty")
    single = measured.cell([1, 2])
    assert "for these shot sets" not in text_of(single.study, "Uncertainty")


def test_tells_of_zero_shot_batches_and_of_no_training() -> None:
    batch = make.running_batch(zero_shot=True, wanted=2)
    make.worked_through(batch)
    sections = sections_of(batch.study)
    assert "Training and screening" not in sections
    assert "without any training" in text_of(batch.study, "Procedure")


def test_tells_of_corrected_gold() -> None:
    batch = measured.cell([3], kind=Kind.CHOICE)
    example = batch.test_set.items.first().example
    other = next(c for c in batch.test_set.choices if c != measured.gold(example)[0])
    correct_gold(batch.task, {example.pk: [[other]]}, author=None, reason="The label was wrong.")
    text = text_of(batch.study, "Scoring")
    assert (
        "(version 2): The label was wrong. Annotators saw, and were screened by, version 1" in text
    )


def test_repeats_what_the_audit_warns_of() -> None:
    batch = measured.cell([1])
    finding = {"code": "x", "severity": "warning", "message": "Two rows are equal.", "examples": []}
    Task.objects.filter(pk=batch.task_id).update(audit=[finding, {**finding, "severity": "note"}])
    text = text_of(batch.study, "Data and their terms")
    assert text.endswith(f"Known problems of {batch.task.slug}: Two rows are equal.")


def test_repeats_what_is_known_of_source_and_licence() -> None:
    batch = measured.cell([1])
    assert "are not stored" in text_of(batch.study, "Data and their terms")
    Benchmark.objects.update(source="From an archive, under CC BY 4.0.")
    assert text_of(batch.study, "Data and their terms") == "From an archive, under CC BY 4.0."
    study = Study.objects.get()
    [topic] = [t for t in sheet(Facts(study)) if t.name == "Availability of data"]
    assert topic.answer.endswith("it is noted: From an archive, under CC BY 4.0.")


def test_says_that_systems_may_have_seen_the_items() -> None:
    batch = measured.cell([3, 4, 5])
    measured.run(batch.task)
    assert "may have been part of it" in text_of(batch.study, "Tests")


def test_says_that_everybody_was_screened_out() -> None:
    batch = make.running_batch(min_training_score=90)
    make.worked_through(batch, wrong=3)
    text = text_of(batch.study)
    assert text.startswith("No person has completed this study: there are no figures to report.")
    assert "1 was screened out at the end of the training" in text
    assert "In all" in text_of(batch.study, "Pay")


@pytest.mark.parametrize(("via", "says"), [("link", True), ("prolific", False)])
def test_says_that_people_on_plain_links_can_not_be_told_apart(via: str, says: bool) -> None:
    batch = make.running_batch(via=via)
    make.worked_through(batch)
    text = text_of(batch.study, "Recruitment")
    assert ("can't be told from a new one" in text) is says


def test_counts_joins_without_an_assignment_and_renewed_links() -> None:
    batch = make.running_batch()
    renew_resume_link(make.worked_through(batch), at=make.NOON)
    for answer in (JoinAnswer.DECLINED, JoinAnswer.FULL, JoinAnswer.FULL):
        count_answer(batch.study, answer, at=make.NOON)
    text = text_of(batch.study, "Recruitment")
    assert "The consent was declined 1 time." in text
    assert "A consent came too late, with all places taken, 2 times." in text
    assert "a new personal link for 1 assignment." in text


def test_names_nobody() -> None:
    batch = measured.cell([1, 2])
    text = text_of(batch.study)
    for assignment in batch.assignments.all():
        assert assignment.annotator.external_id not in text
        assert assignment.annotator.pseudonym not in text


def test_has_words_for_every_normalisation() -> None:
    assert NORMALISED.keys() == set(Normalisation.values) - {Normalisation.NONE}
