"""The builder: what a study's batches need and give, before they are stored and after."""

from typing import Any

import pytest
from django.contrib.messages import get_messages
from django.test import Client
from django.urls import reverse

from annotation.models import Study, Task
from annotation.models.study import NEVER_FROZEN
from annotation.studies.drafting import possible_batches
from annotation.studies.lifecycle import start_study, what_is_missing
from scoring.planning.designs import Assumptions, design_of
from scoring.planning.views import seconds_for
from scoring.studies.building import BatchOptions, build
from tests import make

pytestmark = pytest.mark.django_db


@pytest.fixture
def task() -> Task:
    """Two chains of one and two shots, and a test set of six."""
    task = make.task(training=0, tests=6, name="SST-2", title="Reviews")
    for split in (1, 2):
        nested = [make.example(task, f"{split}-{n}", role="training") for n in range(2)]
        for shots in (1, 2):
            name = f"train-{shots}-{split}"
            make.item_set(task, nested[:shots], name=name, shots=shots, split=split)
    return task


@pytest.fixture
def study(task: Task) -> Study:
    return make.study(task.benchmark, contact="baseline@example.org")


def address(study: Study) -> str:
    return reverse("scoring:builder", args=[study.slug])


def messages_of(response: Any) -> str:
    return " ".join(str(message) for message in get_messages(response.wsgi_request))


def choice(task: Task, *shots: int, **changes: Any) -> dict[str, Any]:
    cells = [f"{task.slug}:{number}" for number in shots]
    return {"cells": cells, "splits": ["1", "2"], "wanted": 5, "seconds": 20} | changes


def add_episode(task: Task, number: int, *, few_shot: bool) -> None:
    training = make.example(task, f"episode {number} training", role="training")
    test = make.example(task, f"episode {number} test")
    if few_shot:
        make.item_set(task, [training], name=f"episode-{number}-train", episode=number)
    make.item_set(task, [test], name=f"episode-{number}-test", role="test", episode=number)


@pytest.mark.parametrize(("cost", "seconds"), [(0.6, 60), (0.001, None), (100, None), (None, None)])
def test_finds_the_pace_at_which_the_batches_cost_what_the_plan_did(
    study: Study, task: Task, cost: float | None, seconds: float | None
) -> None:
    """At 6 an hour 0.60 pays six minutes: one for each of six examples."""
    Study.objects.update(hourly_rate=6, platform_fee=0)
    study.refresh_from_db()
    make.batch(study, task, zero_shot=True, wanted=1)
    assert seconds_for(study, cost) == (seconds and pytest.approx(seconds))


def test_adds_the_batches_that_were_ticked(admin_client: Client, study: Study, task: Task) -> None:
    response = admin_client.post(address(study), choice(task, 0, 2, splits=["2"], add="1"))
    assert response["Location"] == address(study)
    assert messages_of(response) == "2 batches were added."
    assert {(batch.shots, batch.split, batch.wanted) for batch in study.batches.all()} == {
        (0, None, 5),
        (2, 2, 5),
    }


def test_ticks_zero_shot_and_one_split_at_first(
    admin_client: Client, study: Study, task: Task
) -> None:
    page = admin_client.get(address(study)).content.decode()
    assert f'value="{task.slug}:0" checked' in page
    assert f'value="{task.slug}:2" checked' not in page
    assert page.count(" checked") == 2  # that, and the first split
    assert not study.batches.exists()


def test_gives_htmx_the_result_alone(admin_client: Client, study: Study, task: Task) -> None:
    headers = {"HX-Request": "true"}
    response = admin_client.post(address(study), choice(task, 1), headers=headers)
    text = response.content.decode().strip()
    assert text.startswith('<section id="builder-result"')
    assert "<html" not in text
    assert not study.batches.exists()


def test_counts_what_is_there_already_once(study: Study, task: Task) -> None:
    zero, *rest = possible_batches(task)
    first = build(study, [zero, *rest], BatchOptions(people=5, seconds=20))
    make.batch(study, task, zero_shot=True, wanted=5)
    then = build(study, [zero, *rest], BatchOptions(people=5, seconds=20))
    assert then["present"] == 1
    assert then["estimate"] == first["estimate"]


def test_the_width_of_a_cell_is_the_planners(study: Study, task: Task) -> None:
    both = [c for c in possible_batches(task) if c.shots == 2]
    (cell,) = build(study, both, BatchOptions(people=5, seconds=20))["cells"]
    planned = design_of(Assumptions(shots=2, max_items=6), 10, 6)
    assert cell["width"] == pytest.approx(100 * planned.width)
    assert (cell["splits"], cell["people"], cell["items"]) == (2, 10, 6)


def test_more_people_and_more_items_make_it_narrower(study: Study, task: Task) -> None:
    zero = possible_batches(task)[:1]

    def width(people: int, items: int | None) -> float:
        (cell,) = build(study, zero, BatchOptions(people, 20, items))["cells"]
        assert cell["width"] is not None
        return cell["width"]

    assert width(10, None) < width(5, None) < width(5, 3)


def test_one_person_has_no_interval(study: Study, task: Task) -> None:
    (cell, *_) = build(study, possible_batches(task)[:1], BatchOptions(people=1, seconds=20))[
        "cells"
    ]
    assert (cell["width"], cell["why"]) == (None, "none: one person")


def test_says_where_one_context_has_no_interval(
    admin_client: Client, study: Study, task: Task
) -> None:
    task.examples.update(context=["One text."], context_hash="one")
    sent = {**choice(task, 1), "look": "1"}
    page = admin_client.post(address(study), sent).content.decode()
    assert "none: all its items have one context" in page


def test_the_fee_of_the_platform_is_in_the_cost(study: Study, task: Task) -> None:
    study.platform_fee = 25
    found = build(study, possible_batches(task)[:1], BatchOptions(people=6, seconds=60))
    # Six people on six items of a minute: 36 minutes at 12 an hour, and a quarter on top.
    assert float(found["estimate"].cost) == pytest.approx(7.20)
    assert float(found["cost"]) == pytest.approx(9.00)


def test_a_sample_of_the_items_is_drawn_when_it_is_stored(
    admin_client: Client, study: Study, task: Task
) -> None:
    sets = task.item_sets.count()
    admin_client.post(address(study), choice(task, 0, items=4, sample_seed=7))
    assert task.item_sets.count() == sets
    admin_client.post(address(study), choice(task, 0, items=4, sample_seed=7, add="1"))
    batch = study.batches.get()
    assert batch.test_set.items.count() == 4
    assert batch.test_set.name.endswith("-4-7")


def test_adds_episodes_by_their_numbers(admin_client: Client, study: Study, task: Task) -> None:
    for number in (1, 2, 3, 7):
        add_episode(task, number, few_shot=number != 3)
    data = choice(task, episodes=["few", "zero"], episode_numbers="1-3", add="1")
    admin_client.post(address(study), data)
    assert [batch.label for batch in study.batches.order_by("id")] == [
        "episode 1",
        "episode 2",
        "episode 3",
    ]


@pytest.mark.parametrize("numbers", ["one", "1-", "-3", "1..3"])
def test_refuses_numbers_of_episodes_it_cannot_read(
    admin_client: Client, study: Study, task: Task, numbers: str
) -> None:
    add_episode(task, 1, few_shot=True)
    data = choice(task, episodes=["few"], episode_numbers=numbers, add="1")
    page = admin_client.post(address(study), data)
    assert page.status_code == 422
    assert "Write numbers and ranges" in page.content.decode()


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [({"cells": []}, "No item set fits"), ({"wanted": 0}, "greater than or equal to 1")],
)
def test_refuses_a_choice_with_a_sentence_and_keeps_it(
    admin_client: Client, study: Study, task: Task, changes: dict[str, Any], sentence: str
) -> None:
    page = admin_client.post(address(study), choice(task, 0, add="1", **changes))
    text = page.content.decode()
    assert page.status_code == 422
    assert sentence in text
    assert 'name="seconds" value="20"' in text
    assert not study.batches.exists()


def test_keeps_the_time_that_is_expected(admin_client: Client, study: Study, task: Task) -> None:
    admin_client.post(address(study), choice(task, 0, seconds=45, add="1"))
    assert 'name="seconds" value="45.0"' in admin_client.get(address(study)).content.decode()
    start = admin_client.get(reverse("annotation:start", args=[study.slug])).content.decode()
    assert "At 45 seconds per example" in start


def test_takes_other_seconds_in_the_settings_even_while_people_work(
    admin_client: Client, study: Study, task: Task
) -> None:
    make.batch(study, task, zero_shot=True)
    make.start_study(study, at=make.NOON)
    settings = reverse("annotation:settings", args=[study.slug])
    form = admin_client.get(settings).context["form"]
    assert {name for name, one in form.fields.items() if not one.disabled} == {*NEVER_FROZEN}
    given = {"contact": "a@example.org", "platform_fee": 0, "shown": form.shown}
    for seconds, status in [("0", 422), ("90", 302)]:
        sent = admin_client.post(settings, given | {"expected_seconds": seconds})
        assert sent.status_code == status
    study.refresh_from_db()
    assert study.expected_seconds == 90


def test_expects_what_is_usual_where_nothing_else_was_said(
    admin_client: Client, study: Study, task: Task
) -> None:
    admin_client.post(address(study), choice(task, 0, seconds=45, add="1"))
    admin_client.post(address(study), choice(task, 1, seconds=20, add="1"))
    study.refresh_from_db()
    assert study.expected_seconds is None


def test_warns_of_what_makes_a_figure_weak(admin_client: Client, study: Study, task: Task) -> None:
    page = admin_client.post(address(study), choice(task, 2, wanted=2)).content.decode()
    assert "Fewer than 5 people" in page
    assert "Two splits" in page
    assert "SST-2 with 2 shots" in page


def test_deletes_many_batches_of_a_draft_at_once(
    admin_client: Client, study: Study, task: Task
) -> None:
    admin_client.post(address(study), choice(task, 0, 1, 2, add="1"))
    kept, *others = study.batches.values_list("pk", flat=True)
    url = reverse("scoring:remove_batches", args=[study.slug])
    response = admin_client.post(url, {"batch": others})
    assert messages_of(response).endswith("4 batches were deleted.")
    assert list(study.batches.values_list("pk", flat=True)) == [kept]


def test_deletes_no_batch_of_another_study(admin_client: Client, study: Study, task: Task) -> None:
    other = make.batch(make.study(task.benchmark), task, zero_shot=True)
    url = reverse("scoring:remove_batches", args=[study.slug])
    admin_client.post(url, {"batch": [other.pk]})
    other.refresh_from_db()
    assert admin_client.post(url, {"batch": [other.pk, "nonsense"]}).status_code == 404


def test_changes_no_batches_of_a_started_study(
    admin_client: Client, study: Study, task: Task
) -> None:
    batch = make.batch(study, task, zero_shot=True)
    start_study(study, at=make.NOON)
    response = admin_client.post(address(study), choice(task, 2, add="1"))
    assert "copy it" in messages_of(response)
    url = reverse("scoring:remove_batches", args=[study.slug])
    assert "copy it" in messages_of(admin_client.post(url, {"batch": [batch.pk]}))
    assert study.batches.count() == 1


def unequal(*, via: str = "prolific") -> Study:
    """Batches of 12 and of 76 minutes, at 20 seconds an item."""
    study = make.study(make.benchmark(), via=via)
    for slug, tests in (("short", 36), ("long", 228)):
        task = make.task(study.benchmark, training=0, tests=tests, slug=slug, title=slug.title())
        make.batch(study, task, zero_shot=True, wanted=5)
    study.outcome_rules.filter(outcome="completed").update(platform_pays=3)
    return study


SENTENCE = (
    "A study on Prolific has one time and one reward, but Short · 0 shots takes about 12 minutes "
    "and Long · 0 shots about 1 hour 16 minutes. Make two studies of them."
)
ON_BATCHES = f"{SENTENCE} The page Batches does so at a click."


def test_does_not_start_batches_of_very_different_length_on_a_platform() -> None:
    assert what_is_missing(unequal()) == [ON_BATCHES]
    assert what_is_missing(unequal(via="link")) == []
    near = unequal()
    Study.objects.filter(pk=near.pk).update(expected_seconds=1)
    assert what_is_missing(Study.objects.get(pk=near.pk)) == []  # three minutes apart


def test_offers_two_studies_for_batches_of_very_different_length(admin_client: Client) -> None:
    study = unequal()
    member = make.member(study, "editor")
    assert SENTENCE in admin_client.get(address(study)).content.decode()
    url = reverse("scoring:part_study", args=[study.slug])
    said = messages_of(admin_client.post(url))
    second = Study.objects.get(slug=f"{study.slug}-longer")
    assert f"“{second}” now, {second.slug}" in said
    assert [str(batch.task) for batch in study.batches.all()] == ["Short"]
    assert [(str(b.task), b.wanted) for b in second.batches.all()] == [("Long", 5)]
    assert second.memberships.get().user == member
    for one in (study, second):
        assert [f"what {one.channel} itself pays" in said for said in what_is_missing(one)] == [
            True
        ]
    assert "one study will do" in messages_of(admin_client.post(url))


def test_says_of_chosen_batches_that_they_need_two_studies(admin_client: Client) -> None:
    study = unequal()
    long = study.batches.get(task__slug="long")
    long.delete()
    form = {"cells": ["long:0"], "wanted": 5, "seconds": 20}
    told = admin_client.post(address(study), {**form, "look": "1"})
    assert told.context["building"]["unequal"] == SENTENCE
    assert SENTENCE in told.content.decode()
    sampled = admin_client.post(address(study), {**form, "items": 40, "look": "1"})
    assert sampled.context["building"]["unequal"] == ""


def test_proposes_people_enough_for_a_sure_verdict_where_systems_are_named(
    admin_client: Client, study: Study
) -> None:
    wanted = 'name="wanted" value="{}"'
    assert wanted.format(5) in admin_client.get(address(study)).content.decode()
    Study.objects.update(named_systems=["TinyLM"])
    assert wanted.format(8) in admin_client.get(address(study)).content.decode()
