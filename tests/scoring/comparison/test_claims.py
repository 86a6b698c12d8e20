"""What a study claims when it is closed stays: what comes later stands beside it."""

import json
from copy import deepcopy
from datetime import date, datetime, timedelta
from io import BytesIO
from typing import Any

import pytest
from django.db import transaction
from django.db.models import ProtectedError
from openpyxl import load_workbook
from pytest_django import DjangoDbBlocker

from annotation.benchmarks.correcting import correct_gold
from annotation.models import Batch, Study
from annotation.studies.ending import EARLY, MORE_PLACES
from annotation.studies.lifecycle import close_study, want_more
from annotation.studies.people import exclude, lift_exclusion
from scoring.analysis.tasks import freeze_claims
from scoring.cells.scope import Choices, Scope
from scoring.comparison import comparing
from scoring.comparison.claims import AFTER_PEOPLE
from scoring.comparison.comparing import compare, glance
from scoring.comparison.comparison import Comparison
from scoring.comparison.documents import FORMATS
from scoring.contrasts.differences import SUPPLEMENT
from scoring.models import FrozenClaims, Run
from scoring.models.claims import Reason, latest
from scoring.report.facts import Facts
from scoring.report.methods import methods
from tests import make
from tests.made_once import once_a_module
from tests.scoring.comparison import measured

pytestmark = pytest.mark.django_db

CLOSING = make.NOON + timedelta(hours=1)
LATER = CLOSING + timedelta(days=3)


def measured_study(**about: Any) -> Study:
    """Six people on twenty items, beside two systems; closed."""
    batch = make.running_batch(wanted=6, tests=20, training=3, **about)
    for number in range(6):
        make.worked_through(batch, wrong=3 + number % 3)
    for system, wrong in (("Weak", 15), ("Near", 2)):
        measured.run(batch.task, system=system, wrong=wrong, at=make.NOON)
    close_study(batch.study, at=CLOSING)
    return batch.study


def seen(study: Study, **choices: Any) -> Comparison:
    return compare(Scope(study.benchmark, study), Choices(**choices))


def eight_people(wanted: int = 8, added: int = 0, **about: Any) -> Batch:
    """All of them above the floor; still open."""
    batch = make.running_batch(wanted=wanted, tests=12, training=10, min_training_score=80, **about)
    want_more(batch, wanted + added)
    for number in range(8):
        make.worked_through(batch, wrong=number % 2)
    return batch


study_once = once_a_module(measured_study)
eight_once = once_a_module(eight_people)


@pytest.fixture
def study(study_once: Study) -> Study:
    return deepcopy(study_once)


@pytest.fixture(scope="module")
def seen_once(
    study_once: Study, django_db_blocker: DjangoDbBlocker
) -> tuple[Comparison, Comparison]:
    """The table of frozen verdicts, and one whose verdicts are not those. What is kept of them is
    rolled back: other tests count what is frozen."""
    with django_db_blocker.unblock(), transaction.atomic():
        study = deepcopy(study_once)
        tables = seen(study), seen(study, gold_version=1)
        transaction.set_rollback(True)
    return tables


def verdicts(study: Study, *, supplement: bool = False) -> str:
    """As the JSON has them."""
    document = json.loads(FORMATS["json"].write(seen(study)))
    listed = [one for one in document["verdicts"] if bool(one["supplement"]) == supplement]
    return json.dumps(listed, indent=1)


def correct(study: Study) -> None:
    [batch] = study.batches.all()
    example = batch.test_set.items.get(position=0).example
    other = "bad" if measured.gold(example) == ["good"] else "good"
    correct_gold(batch.task, {example.pk: [[other]]}, author=None, reason="a slip")


def test_runs_that_come_later_change_no_byte_of_what_was_frozen(study: Study) -> None:
    before = verdicts(study)
    [task] = study.benchmark.tasks.all()
    for number in range(4):
        measured.run(task, system=f"New {number}", wrong=12 + number, at=LATER)
    assert verdicts(study) == before
    later = json.loads(verdicts(study, supplement=True))
    assert [one["system"] for one in later] == [f"New {number}" for number in range(4)]
    assert {(one["supplement"], one["family"], one["frozen_at"]) for one in later} == {
        (LATER.date().isoformat(), 4, None)
    }
    assert {one["family"] for one in json.loads(before) if one["other_system"] is None} == {2}
    assert FrozenClaims.objects.count() == 1


def test_more_runs_of_a_frozen_system_stand_in_the_supplement(study: Study) -> None:
    before = verdicts(study)
    [task] = study.benchmark.tasks.all()
    measured.run(task, system="Weak", wrong=1, split=2, at=LATER)
    measured.run(task, system="Weak", wrong=3, split=1, at=LATER)
    assert verdicts(study) == before
    [later] = json.loads(verdicts(study, supplement=True))
    assert (later["system"], later["runs"], later["family"]) == ("Weak", 2, 1)


@pytest.mark.both_databases
def test_every_version_stays_readable(study: Study) -> None:
    before = json.loads(verdicts(study))
    exclude(study.assignments.earliest("pk"), reason="a machine")
    first, second = json.loads(FORMATS["json"].write(seen(study)))["versions"]
    assert (first["version"], first["reason"]) == (1, "closing")
    assert [one["p"] for one in first["verdicts"]] == [one["p"] for one in before]
    assert [one["p"] for one in second["verdicts"]] != [one["p"] for one in before]
    assert [one.verdicts for one in seen(study).without_gold().versions] == [(), ()]


def test_nothing_is_claimed_while_somebody_can_still_come(study: Study) -> None:
    Study.objects.filter(pk=study.pk).update(state="open", closed_at=None)
    running = Study.objects.get(pk=study.pk)
    for table in (seen(running), compare(Scope(study.benchmark))):
        assert table.verdicts == ()
        assert json.loads(FORMATS["json"].write(table))["verdicts"] == []
        assert [row.mean for row in table.rows if row.kind == "human"] == [95]


def test_nothing_is_claimed_while_somebody_may_send_the_last_page() -> None:
    batch = make.running_batch(wanted=6, tests=20)
    for _ in range(5):
        make.worked_through(batch)
    make.at_work(batch)
    measured.run(batch.task, wrong=9, at=make.NOON)
    close_study(batch.study, at=make.NOON)
    assert not batch.study.is_settled
    assert seen(batch.study).verdicts == ()


@pytest.mark.parametrize(
    ("wanted", "added", "ends_on", "reasons"),
    [
        (8, 0, None, ()),
        (9, 0, None, (EARLY,)),
        (9, 0, CLOSING.date(), ()),
        (9, 0, LATER.date(), (EARLY,)),
        (8, 0, LATER.date(), ()),
        (7, 1, None, (MORE_PLACES,)),
        (7, 2, None, (EARLY, MORE_PLACES)),
    ],
)
def test_is_sure_only_of_a_study_that_ended_as_it_said(
    wanted: int, added: int, ends_on: date | None, reasons: tuple[str, ...]
) -> None:
    batch = eight_people(wanted, added, ends_on=ends_on)
    measured.run(batch.task, wrong=10, shots=10, at=make.NOON)
    close_study(batch.study, at=CLOSING)
    [test] = seen(batch.study).tests
    assert (test.certainty, test.reasons) == ("probable" if reasons else "sure", reasons)
    text = str(methods(Facts(batch.study)))
    assert "It was to end " in text
    assert [reason in text for reason in reasons] == [True] * len(reasons)


@pytest.mark.parametrize(
    ("named", "at", "reasons"),
    [
        ([], make.NOON, ()),
        ([], make.NOON + timedelta(seconds=1), (AFTER_PEOPLE,)),
        (["BERT-Base"], make.NOON + timedelta(seconds=1), ()),
        (["Another"], make.NOON, (SUPPLEMENT,)),
        ([], LATER, (SUPPLEMENT,)),
    ],
)
def test_is_sure_only_of_systems_that_were_named_or_there_before_people(
    eight_once: Batch, named: list[str], at: datetime, reasons: tuple[str, ...]
) -> None:
    batch = eight_people(named_systems=named) if named else deepcopy(eight_once)
    for system in ("BERT-Base", "Second"):
        measured.run(batch.task, system=system, wrong=10, shots=10, at=at)
    close_study(batch.study, at=CLOSING)
    table = seen(batch.study)
    [test] = [test for test in table.tests if test.system == "BERT-Base"]
    assert (test.certainty, test.reasons) == ("probable" if reasons else "sure", reasons)
    assert {reason for test in table.systems for reason in test.reasons} == set()


@pytest.mark.both_databases
@pytest.mark.parametrize("change", [Reason.GOLD, Reason.EXCLUSION])
def test_what_was_measured_anew_makes_a_version_beside_the_old(
    study: Study, change: Reason
) -> None:
    before = verdicts(study)
    person = study.assignments.earliest("pk")
    first = latest(study)
    assert first is not None
    frozen = first.claims
    if change == Reason.GOLD:
        correct(study)
    else:
        exclude(person, reason="a machine")
    assert verdicts(study) != before
    assert seen(study).versions[-1].reason == change.label
    if change == Reason.EXCLUSION:
        lift_exclusion(person)
        again = [change.label] * 2
        assert [one.reason for one in seen(study).versions] == ["closing", *again]
        assert verdicts(study) == before
    first.refresh_from_db()
    assert first.claims == frozen


def test_a_named_system_joins_with_a_version_whenever_it_comes() -> None:
    study = measured_study(named_systems=["Weak", "Late"])
    assert [one["system"] for one in json.loads(verdicts(study))] == ["Weak"]
    [task] = study.benchmark.tasks.all()
    measured.run(task, system="Late", wrong=9, at=LATER)
    assert {one["system"] for one in json.loads(verdicts(study)) if not one["other_system"]} == {
        "Late",
        "Weak",
    }
    assert [one.reason for one in seen(study).versions] == ["closing", "run of a named system"]
    assert [one["system"] for one in json.loads(verdicts(study, supplement=True))] == ["Near"]


@pytest.mark.both_databases
def test_a_worker_freezes_what_nobody_looked_at(study: Study) -> None:
    freeze_claims()
    correct(study)
    freeze_claims()
    assert [one.reason for one in seen(study).versions] == ["closing", "gold correction"]


@pytest.mark.both_databases
def test_a_run_that_was_frozen_is_not_deleted(study: Study) -> None:
    verdicts(study)
    [task] = study.benchmark.tasks.all()
    later = measured.run(task, system="New", at=LATER)
    for run in Run.objects.exclude(pk=later.pk):
        with pytest.raises(ProtectedError):
            run.delete()
    later.delete()


def test_nothing_is_frozen_from_figures_that_are_stale(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    verdicts(study)
    correct(study)
    monkeypatch.setattr(comparing, "MOST_WHILE_WAITING", 0)
    looked = glance(Scope(study.benchmark, study), Choices())
    assert looked.is_stale
    assert looked.table is not None
    assert FrozenClaims.objects.count() == 1
    gold = {test.gold_version for test in seen(study).tests}
    assert gold == {2}
    assert FrozenClaims.objects.count() == 2


def test_an_open_study_freezes_nothing() -> None:
    batch = make.running_batch(wanted=6)
    make.worked_through(batch)
    measured.run(batch.task, at=make.NOON)
    assert seen(batch.study).tests == ()
    close_study(batch.study, at=CLOSING)
    [test] = seen(batch.study).tests
    assert test.frozen_at is not None
    assert FrozenClaims.objects.count() == 1


@pytest.mark.parametrize(
    "choices", [{"references": "set"}, {"gold_version": 1}, {"with_excluded": True}]
)
def test_other_choices_freeze_nothing(study: Study, choices: dict[str, Any]) -> None:
    seen(study, **choices)
    assert not FrozenClaims.objects.exists()


@pytest.mark.parametrize("form", ["markdown", "latex", "latex-appendix", "json", "xlsx"])
def test_every_document_says_that_its_verdicts_are_not_the_frozen_ones(
    seen_once: tuple[Comparison, Comparison], form: str
) -> None:
    told = "Not the frozen verdicts: the reader chose"
    own, other = (FORMATS[form].write(table) for table in seen_once)
    assert (told in text_of(own, form), told in text_of(other, form)) == (False, True)


def text_of(document: bytes, form: str) -> str:
    if form != "xlsx":
        return document.decode()
    sheets = load_workbook(BytesIO(document))
    return " ".join(str(value) for line in sheets["Verdicts"].values for value in line)
