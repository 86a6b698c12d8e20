"""Whether a batch has a floor, and what the pages say of the rule."""

from dataclasses import replace
from typing import Any

import pytest
from django.db import DatabaseError, transaction
from django.test import Client
from django.urls import reverse

from annotation.models import Batch, ItemSet, Study
from annotation.studies import screening
from annotation.studies.lifecycle import start_study, want_more, what_is_missing
from annotation.studies.screening import (
    NO_FLOOR,
    Screening,
    let_in,
    screenings_by_cell,
    screenings_in,
    unsure_verdicts,
    why_no_floor,
)
from scoring.core.screening import ScreeningFigures
from scoring.report.facts import Facts
from scoring.report.methods import methods
from tests import make

pytestmark = pytest.mark.django_db


def drafted(*, training: int = 20, zero_shot: bool = False, **fields: Any) -> Batch:
    study = make.study(make.benchmark(), **fields)
    task = make.task(study.benchmark, training=training)
    return make.batch(study, task, zero_shot=zero_shot, wanted=5)


def stored(batch: Batch) -> list[Screening]:
    return screenings_in(Batch.objects.get(pk=batch.pk).study)[batch.pk]


@pytest.mark.parametrize(
    ("made", "why"),
    [
        ({}, NO_FLOOR),
        ({"max_drop": 10}, NO_FLOOR),
        ({"min_training_score": 70}, ""),
        ({"min_training_score": 80, "training": 10}, ""),
        (
            {"min_training_score": 70, "training": 10},
            "its floor lets in more than 10 of 100 people who only guess",
        ),
        ({"min_training_score": 70, "training": 9}, "its floor rests on fewer than 10 items"),
        ({"min_training_score": 50}, "its floor lets in more than 10 of 100 people who only guess"),
        ({"min_training_score": 70, "zero_shot": True}, NO_FLOOR),
        ({"known_people": "Six linguists of our group.", "zero_shot": True}, NO_FLOOR),
    ],
)
def test_says_whether_a_batch_has_a_floor(made: dict[str, Any], why: str) -> None:
    batch = drafted(**made)
    assert why_no_floor(stored(batch)) == why
    start_study(batch.study, at=make.NOON)
    started = Batch.objects.get(pk=batch.pk)
    assert why_no_floor(stored(started)) == why


def test_a_drop_makes_no_floor_of_one_that_lets_guessers_in() -> None:
    """The group that it compares with may consist of guessers."""
    batch = drafted(min_training_score=60, max_drop=10, drop_group_size=2)
    (screening,) = screenings_in(batch.study)[batch.pk]
    assert screening.figures.guessers_in < 0.2 < screening.figures.guessers_past_floor
    assert why_no_floor(stored(batch))


def test_says_before_the_start_where_no_verdict_can_be_sure(admin_client: Client) -> None:
    study = drafted(min_training_score=60).study
    page = admin_client.get(reverse("annotation:start", args=[study.slug])).content.decode()
    assert "can be sure: its floor lets in more than 10 of 100 people who only guess." in page
    Study.objects.update(min_training_score=70)
    assert list(unsure_verdicts(Study.objects.get())) == []


def test_keeps_what_was_found_at_the_start() -> None:
    batch = drafted(min_training_score=70)
    start_study(batch.study, at=make.NOON)
    before = stored(batch)
    want_more(batch, 50)
    assert stored(batch) == before
    Study.objects.filter(pk=batch.study_id).update(
        frozen={"batches": [{"batch": batch.pk, "screenings": []}]}
    )
    assert why_no_floor(stored(batch))


def test_places_are_those_of_the_cell() -> None:
    study = make.study(make.benchmark(), min_training_score=60)
    task = make.task(study.benchmark, training=12)
    batch = make.batch(study, task, wanted=4)
    again = make.item_set(
        task, [i.example for i in batch.training_set.items.all()], name="b", shots=12, split=2
    )
    Batch.objects.create(
        study=study, task=task, training_set=again, test_set=batch.test_set, wanted=3
    )
    ((screening, cells),) = screenings_by_cell(study)
    assert screening.rule.places == 7
    assert (screening.rule.items, screening.rule.labels) == (12, 2)
    assert cells == [f"{task} with 12 shots"]


def test_tells_the_checks_of_a_cell_from_its_training() -> None:
    batch = make.checked_batch(training=12)
    found = [cells for _, cells in screenings_by_cell(batch.study)]
    cell = f"{batch.task} with 12 shots"
    assert found == [[f"checks of {cell}"], [f"training of {cell}"]]


@pytest.mark.parametrize(
    ("kind", "answer"),
    # The one marked first, as often as the other; nothing; the one text that is ever right.
    [("candidate", ["Anna"]), ("spans", []), ("text", ["Anna and Boris"])],
)
def test_a_guess_is_worth_what_no_skill_earns_on_these_items(kind: str, answer: list[str]) -> None:
    batch = make.checked_batch(other=kind, zero_shot=True)
    golds = [one.golds.get().alternative_texts()[0] for one in batch.check_set.examples.all()]
    ((screening, _),) = screenings_by_cell(batch.study)
    right = [gold == answer for gold in golds]
    assert screening.rule.chance == pytest.approx(sum(right) / len(right))
    assert 0 < screening.rule.chance < 1
    share = f"right on {100 * screening.rule.chance:.0f} % of them"
    assert share in screening.setting


def test_reads_a_rule_that_was_frozen_before_guesses_were_measured() -> None:
    batch = make.running_checked_batch(zero_shot=True)
    [record] = batch.study.frozen["batches"]
    rule = record["screenings"][0]["rule"]
    del rule["labels"], rule["no_skill"]
    batch.study.save(update_fields=["frozen"])
    [screening] = stored(batch)
    assert screening.rule.chance == 0.5


@pytest.mark.parametrize("page", ["start", "settings"])
def test_the_pages_say_whom_the_rule_lets_in(admin_client: Client, page: str) -> None:
    batch = drafted(min_training_score=50)
    study = batch.study
    address = reverse(f"annotation:{page}", args=[study.slug])
    text = admin_client.get(address, {"checks": 1}).content.decode()
    assert "Of 100 people who only guess, about 58 get in; of 100 careful ones, about 0 " in text
    assert "lets in at most 10 of 100 who guess is 70 %" in text
    assert "items; a guess is one of 2 labels." in text
    assert "Simulated 2,000 times" in text


def test_says_of_many_rules_in_one_sentence_whom_they_let_in() -> None:
    (screening, _), *_ = screenings_by_cell(drafted().study)
    strict = replace(screening, figures=ScreeningFigures(0.004, 0, 0.22, None))
    lax = replace(screening, figures=ScreeningFigures(0.07, 0, 0.19, None))
    assert let_in([lax, strict]) == (
        "Of 100 people who only guess, about 0 to 7 get in; of 100 careful ones, about 19 to 22 "
        "are turned away."
    )


def test_proposes_no_floor_for_too_few_items() -> None:
    ((screening, _),) = screenings_by_cell(drafted(training=5).study)
    assert screening.advice == "A floor needs at least 10 items, and there are 5."
    assert "about 100 get in" in screening.sentence


def test_does_not_start_with_a_rule_that_hardly_screens() -> None:
    batch = drafted(min_training_score=50, screening_reason="")
    study = batch.study
    sentence = (
        f"The rule for {batch.task} with 20 shots hardly screens. Of 100 people who only guess, "
        "about 58 get in; of 100 careful ones, about 0 are turned away. The lowest floor, in steps "
        "of 10 points, that lets in at most 10 of 100 who guess is 70 %. Change the rule or drop "
        "it, or write in the settings why it stays."
    )
    assert what_is_missing(study) == [sentence]
    for changes in (
        {"screening_reason": "Guessers are asked too."},
        {"min_training_score": None},
        {"min_training_score": 60},  # 27 of 100 get in: advice, and no more
    ):
        Study.objects.filter(pk=study.pk).update(
            **{"min_training_score": 50, "screening_reason": "", **changes}
        )
        assert what_is_missing(Study.objects.get(pk=study.pk)) == []


def test_goes_by_the_stronger_of_two_rules() -> None:
    """Whoever passes the checks has not guessed: the rule of the training may be weak."""
    batch = make.checked_batch(training=20, min_training_score=50, screening_reason="")
    assert what_is_missing(batch.study) == []
    Study.objects.update(min_check_score=10)
    [said] = what_is_missing(Study.objects.get())
    assert "about 58 get in" in said


def test_keeps_the_word_on_a_weak_rule() -> None:
    study = drafted(min_training_score=50, screening_reason="Guessers are asked too.").study
    start_study(study, at=make.NOON)
    assert study.frozen["rules"]["screening_reason"] == "Guessers are asked too."
    told = " ".join(str(section) for section in methods(Facts(study)))
    assert "The rule stayed for this reason: “Guessers are asked too”." in told
    with pytest.raises(DatabaseError), transaction.atomic():
        Study.objects.filter(pk=study.pk).update(screening_reason="Another one.")


def test_reads_the_gold_of_each_set_of_a_draft_once_for_its_report(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    study = drafted(min_training_score=70).study
    for _ in range(3):
        make.batch(study, make.task(study.benchmark, training=20))
    facts, read = Facts(study), list[ItemSet]()
    guess = screening._guessing

    def counted(item_set: ItemSet) -> dict[str, Any]:
        read.append(item_set)
        return guess(item_set)

    monkeypatch.setattr(screening, "_guessing", counted)
    methods(facts)
    assert len(read) == 4
