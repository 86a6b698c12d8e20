"""Every number of a report, checked against the rows of studies of every shape."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from statistics import fmean

import pytest
from pytest_django import DjangoDbBlocker

from annotation.models import (
    Assignment,
    Batch,
    Channel,
    Exclusion,
    ItemSet,
    Judgement,
    Outcome,
    Role,
    Study,
)
from annotation.studies.cutting import cut_test_set
from annotation.studies.lifecycle import start_study
from annotation.work.finishing import withdraw
from scoring.cells.cell_rows import cell_row
from scoring.cells.cells import CellReader
from scoring.cells.scope import Choices
from scoring.comparison.claims import named_and_later
from scoring.contrasts.differences import people_and_systems
from scoring.contrasts.outcomes import verdict_in_words
from scoring.contrasts.verdicts import against_systems
from scoring.report.documents import Report, as_latex, as_text
from scoring.report.methods import SIMULATED, WRITTEN
from tests import make
from tests.made_once import made_once
from tests.scoring.comparison import measured

pytestmark = pytest.mark.django_db


def of_one_split() -> Study:
    batch = measured.cell([3, 4, 5, 6, 7])
    measured.run(batch.task, wrong=2)
    measured.run(batch.task, system="GPT", wrong=1)
    withdraw(make.at_work(batch), at=make.NOON + timedelta(minutes=1))
    make.at_work(batch)
    return batch.study


def with_a_margin() -> Study:
    """People ahead of one system, and as good as another."""
    batch = make.running_batch(wanted=6, tests=60, training=3, margin=10)
    for wrong in (3, 4, 3, 4, 3):
        make.worked_through(batch, wrong=wrong)
    measured.run(batch.task, wrong=50)
    measured.run(batch.task, wrong=0, system="Perfect")
    return batch.study


def of_five_splits() -> Study:
    [first, *_] = measured.study_with_splits(splits=5, people=2)
    measured.run(first.task, wrong=2)
    return first.study


def of_a_person_for_each_split() -> Study:
    [first, *_] = measured.study_with_splits(splits=5, people=1)
    return first.study


def with_gaps() -> Study:
    """Two batches of one cell, of which the second has a part of the test set."""
    benchmark = make.benchmark()
    task = make.task(benchmark, training=3, tests=6)
    whole, train = task.item_sets.get(name="test"), task.item_sets.get(name="train-3-1")
    study = make.study(benchmark)
    for test_set in (whole, cut_test_set(whole, 4)):
        Batch.objects.create(
            study=study, task=task, training_set=train, test_set=test_set, wanted=3
        )
    start_study(study, at=make.NOON)
    for batch in study.batches.all():
        for wrong in (3, 4, 5):
            make.worked_through(batch, wrong=wrong)
    return study


def where_nobody_is_screened() -> Study:
    batch = make.running_batch(wanted=5, min_training_score=10)
    for wrong in (0, 1, 2):
        make.worked_through(batch, wrong=wrong)
    measured.run(batch.task, wrong=1)
    return batch.study


def where_all_are_screened() -> Study:
    batch = make.running_batch(wanted=5, min_training_score=90)
    for _ in range(3):
        make.worked_through(batch, wrong=3)
    return batch.study


def of_episodes() -> Study:
    benchmark = make.benchmark()
    task = make.task(benchmark, training=3, tests=4)
    study = make.study(benchmark)
    train = task.item_sets.get(name="train-3-1")
    for number in range(3):
        examples = [make.example(task, f"episode {number} item {n}") for n in range(2 + number)]
        episode = make.item_set(
            task, examples, name=f"episode-{number}", role=Role.TEST, episode=number
        )
        Batch.objects.create(study=study, task=task, training_set=train, test_set=episode, wanted=2)
    start_study(study, at=make.NOON)
    for batch in study.batches.all():
        for wrong in (3, 4):
            make.worked_through(batch, wrong=wrong)
    return study


def with_exclusions() -> Study:
    batch = measured.cell([3, 4, 5, 6, 9, 9])
    first, *_, last = batch.assignments.completed().order_by("pk")
    for assignment, days in ((first, 1), (last, -1)):
        made = Exclusion.objects.create(assignment=assignment, reason="too fast")
        at = assignment.finished_at + timedelta(days=days)
        Exclusion.objects.filter(pk=made.pk).update(created_at=at)
    measured.run(batch.task, wrong=2)
    Study.objects.filter(pk=batch.study_id).update(platform_fee=Decimal("33.3"))
    return batch.study


def of_one_person() -> Study:
    batch = measured.cell([3])
    measured.run(batch.task)
    return batch.study


def a_rehearsal() -> Study:
    study = of_one_split()
    Channel.objects.filter(annotators__assignments__study=study).update(is_simulated=True)
    return study


def zero_shot() -> Study:
    batch = make.running_batch(zero_shot=True, wanted=3, tests=40)
    for wrong in (1, 2, 3):
        make.worked_through(batch, wrong=wrong)
    return batch.study


SHAPES = (
    *(of_one_split, of_five_splits, of_a_person_for_each_split, with_gaps, of_episodes),
    *(where_nobody_is_screened, where_all_are_screened, with_exclusions, of_one_person),
    *(a_rehearsal, zero_shot, with_a_margin),
)


@dataclass
class Told:
    """A report beside the rows that it must be true of."""

    study: Study
    report: Report

    def __post_init__(self) -> None:
        everybody = Assignment.objects.filter(study=self.study)
        simulated = not everybody.of_people().exists()
        self.people = list(everybody.simulated() if simulated else everybody.of_people())
        reader = CellReader(Choices())
        self.cells = reader.people(self.study, simulated=simulated)
        tasks = {cell.task for cell in self.cells}
        systems = [cell for task in tasks for cell in reader.systems(task)]
        own, later = named_and_later(self.study, systems)
        pairs = [
            *people_and_systems(self.cells, own),
            *people_and_systems(self.cells, later, is_later=True),
        ]
        self.tests, _averages = against_systems(pairs, [task.slug for task in tasks])

    def section(self, title: str) -> str:
        [section] = [section for section in self.report.sections if section.title == title]
        return " ".join(section.paragraphs)

    def topic(self, name: str) -> str:
        [topic] = [t for t in self.report.topics if f"{t.group}: {t.name}" == name]
        return topic.answer.removeprefix(f"{SIMULATED.format('Rehearsal')}: ")

    def has(self, title: str) -> bool:
        return any(section.title == title for section in self.report.sections)

    def ended(self, outcome: str) -> int:
        return sum(person.outcome == outcome for person in self.people)


@pytest.fixture(params=SHAPES, ids=lambda shape: shape.__name__, scope="module")
def told(
    request: pytest.FixtureRequest, django_db_setup: None, django_db_blocker: DjangoDbBlocker
) -> Iterator[Told]:
    """Read by the tests, and changed by none of them."""
    shape: Callable[[], Study] = request.param

    def report() -> Told:
        study = make.closed(shape())
        return Told(study, Report(study, with_agreement=True))

    with made_once(django_db_blocker, report) as told:
        yield told


def numbers(text: str) -> list[float]:
    return [float(number) for number in re.findall(r"\d+(?:\.\d+)?", text)]


def test_counts_who_began_and_did_not_finish(told: Told) -> None:
    left = [p for p in told.people if p.outcome not in ("", Outcome.COMPLETED)]
    text = told.topic("Documentation: Completion")
    began = len(told.people)
    assert text.startswith(
        f"{len(left)} of the {began} who consented and began ({len(left) / began:.1%}"[:-1]
    )
    ends = Counter(person.outcome for person in left)
    listed = text.partition(": ")[2].partition(".")[0]
    assert sorted(numbers(listed)) == sorted(ends.values())
    at_work = sum(not person.outcome for person in told.people)
    assert (f"{at_work} more still at work." in text) == bool(at_work)


def test_counts_who_took_part_and_how_it_ended(told: Told) -> None:
    text = told.section("Recruitment")
    persons = len({person.annotator_id for person in told.people})
    assert re.match(rf"{persons} (person|people|SIMULATED PEOPLE), ", text)
    assert f"took up {len(told.people)} assignment" in text
    ends = re.search(r"2026: (.*?)[;.]", text)
    outcomes = Counter(p.outcome for p in told.people if p.outcome)
    assert sorted(numbers(ends[1]) if ends else []) == sorted(outcomes.values())


def test_counts_the_people_of_the_baseline(told: Told) -> None:
    counted = Assignment.objects.filter(study=told.study).counted()
    if not counted.exists():
        assert told.topic("Design: Number of people") == (
            "No person whose answers count has taken part."
        )
        return
    persons = {assignment.annotator_id for assignment in counted}
    everybody = {person.annotator_id for person in told.people}
    assert numbers(told.topic("Design: Number of people")) == [
        counted.count(),
        len(persons),
        len(everybody),
    ]


def test_counts_the_answers_of_each_item(told: Told) -> None:
    """From the judgements themselves."""
    if not told.cells:
        return
    counts: Counter[int] = Counter()
    for cell in told.cells:
        owners = [member.pk for member in cell.annotators]
        rows = Judgement.objects.filter(assignment__in=owners, role=Role.TEST)
        counts.update(rows.values_list("example_id", flat=True))
    wanted = sorted({min(counts.values()), max(counts.values())})
    assert numbers(told.topic("Design: Answers of people").rstrip(".")) == wanted


def test_counts_the_items_of_the_study_and_of_one_person(told: Told) -> None:
    sets = ItemSet.objects.filter(pk__in=told.study.batches.values("test_set"))
    examples = {item.example_id for item_set in sets for item in item_set.items.all()}
    task = told.study.batches.first().task.slug
    assert told.topic("The evaluation: Items").startswith(f"{len(examples)} test items of {task}.")
    sizes = sorted({item_set.items.count() for item_set in sets})
    first = told.topic("Design: Items for one person").partition(". ")[0]
    assert numbers(first.partition(", after")[0]) == sizes
    assert f"Test items: {task} {len(examples)}." in told.section("Design")


def test_says_who_was_screened_out_only_where_a_rule_can(told: Told) -> None:
    trained = [person for person in told.people if person.training_score is not None]
    out = told.ended(Outcome.SCREENED_OUT)
    quality = told.topic("Execution: Quality checks")
    text = told.section("Screening")
    if told.study.min_training_score is None:
        assert quality.startswith("The study has no screening rule.")
        assert "There is no screening rule" in text
        assert "screened out" not in text
        return
    assert f"Screened out by training score: {out} of {len(trained)}" in quality
    assert re.search(rf"\b{out} of {len(trained)} [A-Za-z ]+ who finished a training", text)


def test_says_the_mean_before_screening_and_no_effect_of_it(told: Told) -> None:
    trained = [p for p in told.people if p.training_score is not None]
    if told.study.min_training_score is None:
        return
    scores = [p.training_score for p in trained]
    text = told.section("Screening")
    assert f"the mean training score of all of them was {fmean(scores):.1f} %." in text
    assert "moved" not in text


def test_says_for_whom_figures_hold(told: Told) -> None:
    if not told.has("Uncertainty"):
        return
    text = told.section("Uncertainty")
    has_rule = told.study.min_training_score is not None
    assert ("whom the screening lets in" in text) is has_rule
    assert ("whoever comes in the same way" in text) is not has_rule
    learned = [cell for cell in told.cells if cell.shots != 0 and not cell.is_of_episodes]
    found = re.findall(r"that they saw \((\w+) per cell(?: with shots)?\)", text)
    told_sets = [1 if count == "one" else int(count) for count in found]
    assert told_sets == [len(set(cell.splits)) for cell in learned]


def test_tells_how_intervals_were_computed(told: Told) -> None:
    rows = [cell_row(cell, Choices()) for cell in told.cells]
    methods = {row.ci_method for row in rows}
    text = told.section("Uncertainty") if rows else ""
    assert ("is Wilson's" in text) is bool(methods & {"wilson", "wilson-gaps", "guard"})
    assert ("least-squares" in text) is ("wilson-gaps" in methods)
    assert ("guard band" in text) is ("guard" in methods)
    assert ("bootstrap" in text) is ("episode-bootstrap" in methods)


def test_shows_every_verdict_with_its_runs(told: Told) -> None:
    is_claimed = told.study.is_settled or all(cell.simulated for cell in told.cells)
    if not told.tests or not is_claimed:
        why = "No system was compared" if is_claimed else "that is done once"
        assert not told.has("Tests") or why in told.section("Tests")
        return
    [table] = [section.table for section in told.report.sections if section.title == "Tests"]
    assert table is not None
    of_tests = [row for row in table.records if row["against"] and row["task"] != "average"]
    of_tests = [row for row in of_tests if not str(row["against"]).endswith(" shots")]
    verdicts = Counter((row["verdict"], row["runs"]) for row in of_tests)
    assert verdicts == Counter((verdict_in_words(test), test.runs) for test in told.tests)


def test_tells_the_margin_or_that_there_is_none(told: Told) -> None:
    if not told.cells:
        return
    text, margin = told.section("Systems and margin"), told.study.margin
    assert (f"The margin, set before the start, is {margin:g} point" in text) is bool(margin)
    assert ("No margin was set" in text) is not bool(margin)


def test_tells_the_drift_of_long_tests(told: Told) -> None:
    """From the judgements in their order; all wrong answers come first."""
    long = [c for c in told.cells if len(c.example_ids) >= 60]
    text = told.section("Uncertainty") if told.cells else ""
    assert ("from the first third to the last" in text) is bool(long)
    if long:
        [cell] = long
        found = []
        for member, vector in zip(cell.annotators, cell.vectors, strict=True):
            rows = member.judgements.filter(role=Role.TEST).order_by("step")
            score = dict(zip(vector.items.example_ids, vector.scores, strict=True))
            scores = [100 * score[pk] for pk in rows.values_list("example_id", flat=True)]
            found.append(fmean(scores[-20:]) - fmean(scores[:20]))
        assert f"mean of {len(found)} people changed by {fmean(found):+.1f} points from" in text


def test_writes_short_sentences_and_few(told: Told) -> None:
    texts = [
        text
        for section in told.report.sections
        if section.title in WRITTEN
        for paragraph in section.paragraphs
        for text in re.split(r"(?<=[.!?]) (?=[A-Z0-9“])", paragraph.replace("et al. ", ""))
    ]
    assert max(len(text.split()) for text in texts) <= 40
    assert len(texts) <= 45


def test_counts_intervals(told: Told) -> None:
    if not told.has("Uncertainty"):
        return
    rows = [cell_row(cell, Choices()) for cell in told.cells]
    said = numbers(told.topic("Analysis: Uncertainty").partition(".")[0])
    intervals = sum(row.ci_low is not None for row in rows)
    assert said == [95, intervals, len(rows)]
    [section] = [s for s in told.report.sections if s.title == "Uncertainty"]
    assert section.table is not None
    for row, record in zip(rows, section.table.records, strict=True):
        assert (record["n"], record["m"], record["mean"]) == (row.n, row.m, row.mean)


def test_counts_exclusions_and_those_made_when_scores_could_be_seen(told: Told) -> None:
    completed = [p for p in told.people if p.outcome == Outcome.COMPLETED]
    out = [p for p in completed if hasattr(p, "exclusion")]
    if not out:
        assert not told.has("Exclusions") or (
            told.section("Exclusions") == "No completed assignment was excluded."
        )
        return
    text = told.section("Exclusions")
    late = sum(p.exclusion.created_at >= p.finished_at for p in out)
    assert f"{len(out)} of {len(completed)} completed assignments" in text
    assert f"; {late} after" in text


def test_counts_what_was_due(told: Told) -> None:
    due = [p.amount for p in told.people if p.outcome and p.amount is not None]
    minutes = sum(p.paid_ms for p in told.people if p.outcome) / 60_000
    assert minutes < 60
    assert (
        f"In all {sum(due):,.2f} USD were due for {minutes:.1f} paid minutes of {len(due)} ended"
        in told.section("Pay")
    )
    fee = told.study.platform_fee
    assert (
        f"{sum(due) * (1 + fee / 100):,.2f} USD with the channel's fee of 33.3 %"
        in (told.section("Pay"))
    ) is bool(fee)


def test_repeats_the_consent(told: Told) -> None:
    assert told.section("Consent text") == told.study.consent_text


def test_claims_no_power_afterwards(told: Told) -> None:
    places = sum(batch.wanted for batch in told.study.batches.all())
    if told.cells:
        assert told.topic("Design: Size").startswith(f"{places} places were planned;")


def test_marks_a_rehearsal_wherever_it_can_be_read_alone(told: Told) -> None:
    simulated = not Assignment.objects.filter(study=told.study).of_people().exists()
    for document in (as_text(told.report, ["methods"]), as_text(told.report, ["sheet"])):
        assert ("rehearsal with simulated annotators)" in " ".join(document.split())) is simulated
    assert ("A rehearsal: " in as_latex(told.report, ["methods"])) is simulated
    for section in told.report.sections:
        if section.table and simulated:
            assert section.table.title.startswith("Rehearsal with simulated annotators.")


def test_writes_no_plural_of_one(told: Told) -> None:
    for text in _sentences(told.report):
        assert not re.search(
            r"(?<![\d.,/] )(?<![\d.])\b1 (words|people|assignments|tests|cells|items|places)\b",
            text,
        ), text
        assert not re.search(r"\b1 were\b", text), text


def _sentences(report: Report) -> Iterator[str]:
    for section in report.sections:
        yield from section.paragraphs
    for topic in report.topics:
        yield topic.answer
