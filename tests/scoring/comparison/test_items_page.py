from copy import deepcopy
from dataclasses import replace

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotation.models import Batch, Gold, GoldVersion
from annotation.work.places import open_places
from scoring.analysis.items import item_scores, narrowed, task_cells
from scoring.cells.scope import Choices, Scope
from tests import make
from tests.made_once import once_a_module
from tests.scoring.comparison import measured

pytestmark = pytest.mark.django_db


def made_batch() -> Batch:
    """Both people get the last item right and neither the first three; the run errs on the first
    and the second."""
    made = make.running_batch(wanted=5, training=3, tests=4)
    for _ in range(2):
        make.worked_through(made)
    measured.run(made.task, wrong=2)
    return made


batch_once = once_a_module(made_batch)


@pytest.fixture
def batch(batch_once: Batch) -> Batch:
    return deepcopy(batch_once)


def address(batch: Batch, rest: str = "") -> str:
    return f"/studies/{batch.study.slug}/comparison/items/{rest}"


def page(client: Client, batch: Batch, **given: str) -> str:
    response = client.get(address(batch), given)
    assert response.status_code == 200
    return response.content.decode()


def shown(text: str, batch: Batch) -> list[str]:
    """The ids of the items in the order of the page."""
    ids = [item.source_id for item in batch.test_set.items.all()]
    positions = {source_id: text.find(f">{source_id}</a>") for source_id in ids}
    return sorted(
        (source_id for source_id in ids if positions[source_id] >= 0), key=positions.__getitem__
    )


def test_lists_the_items_where_people_and_systems_differ_most_first(
    admin_client: Client, batch: Batch
) -> None:
    order = shown(page(admin_client, batch), batch)
    assert set(order[:2]) == {"test 0", "test 1"}
    assert len(order) == 4


def test_tells_simulated_answers_from_those_of_people(admin_client: Client, batch: Batch) -> None:
    open_places(batch, simulated=True)
    played = make.worked_through(batch, who=make.annotator("simulated"))
    example = batch.test_set.items.first()
    assert example is not None
    response = admin_client.get(address(batch, f"{example.example_id}/"), {"simulated": "on"})
    text = response.content.decode()
    assert text.count("(simulated)") == 1
    assert "(simulated)" in text.partition(played.annotator.pseudonym)[2].partition("</th>")[0]


def test_names_the_policy_and_keeps_the_gold_version_that_it_scores_under(
    admin_client: Client, batch: Batch
) -> None:
    version = GoldVersion.objects.create(task=batch.task, number=2, reason="a typo")
    example = batch.test_set.items.first().example
    Gold.objects.create(example=example, version=version, alternatives=[[{"text": "neither"}]])
    text = page(admin_client, batch, gold_version="1", references="set")
    assert "Reference policy: set. Normalisation: none. Gold version: 1." in text
    assert '<input type="hidden" name="gold_version" value="1">' in text
    assert "Reference policy: any. Normalisation: none. Gold version: 2." in page(
        admin_client, batch
    )
    item = admin_client.get(address(batch, f"{example.pk}/")).content.decode()
    assert "Reference policy: any. Normalisation: none. Gold version: 2." in item


def test_takes_the_difficulty_from_all_answers() -> None:
    batch = measured.cell([3, 7], tests=4)
    measured.run(batch.task, wrong=1)
    measured.run(batch.task, wrong=2, split=2)
    cells = task_cells(batch.task, Scope(batch.study.benchmark), Choices())
    scores = item_scores(batch.task, *cells)
    assert [item.systems for item in scores] == [0, 50, 100, 100]
    # One annotator right everywhere, the other nowhere.
    assert [item.people for item in scores] == [50] * 4
    assert [item.gap for item in scores] == [50, 0, -50, -50]
    assert (scores[0].people_answers, scores[0].systems_answers) == (2, 2)


def test_has_of_a_study_the_items_that_its_people_are_asked(admin_client: Client) -> None:
    batch = measured.on_a_part(items=3, tests=7)
    measured.run(batch.task)
    assert "3 of 3 items" in page(admin_client, batch)
    last = batch.task.item_sets.get(name="test").items.last().example_id
    assert admin_client.get(address(batch, f"{last}/")).status_code == 404
    benchmark = f"/benchmarks/{batch.study.benchmark.name}/comparison/items/"
    assert "7 of 7 items" in admin_client.get(benchmark).content.decode()


@pytest.mark.parametrize(
    ("order", "first"), [("systems", "test 0"), ("position", "test 0"), ("people_ahead", "test 0")]
)
def test_sorts_as_asked(admin_client: Client, batch: Batch, order: str, first: str) -> None:
    assert shown(page(admin_client, batch, order=order), batch)[0] == first


def test_finds_items_by_text_and_id(admin_client: Client, batch: Batch) -> None:
    assert shown(page(admin_client, batch, q="TEST 2"), batch) == ["test 2"]
    assert shown(page(admin_client, batch, q="nowhere"), batch) == []


def test_tells_items_with_nothing_to_find_apart(admin_client: Client) -> None:
    batch = measured.cell([0], kind="spans", tests=8)
    empty = shown(page(admin_client, batch, gold="empty"), batch)
    filled = shown(page(admin_client, batch, gold="filled"), batch)
    assert len(empty) + len(filled) == 8
    for name in empty:
        assert make.gold_texts("spans", name) == []


def test_shows_what_everybody_answered_to_an_item(admin_client: Client, batch: Batch) -> None:
    example = batch.test_set.items.first().example
    response = admin_client.get(address(batch, f"{example.pk}/"))
    text = response.content.decode()
    assert example.question in text
    assert "<q>?</q>" in text
    for assignment in batch.assignments.all():
        assert assignment.annotator.pseudonym in text
    assert "BERT-Base" in text


def test_links_the_table_with_the_items(admin_client: Client, batch: Batch) -> None:
    text = admin_client.get(f"/studies/{batch.study.slug}/comparison/").content.decode()
    assert f'{address(batch)}?task={batch.task.slug}"' in text
    measured.reported(batch.study.benchmark, "mnli")
    text = admin_client.get(
        f"/benchmarks/{batch.study.benchmark.name}/comparison/"
    ).content.decode()
    assert "task=mnli" not in text


def test_does_not_find_an_item_of_another_task(admin_client: Client, batch: Batch) -> None:
    other = make.task().item_sets.get(name="test").items.first().example
    training = batch.training_set.items.first().example
    for example in (other, training):
        assert admin_client.get(address(batch, f"{example.pk}/")).status_code == 404


def test_refuses_an_unknown_task_or_order(admin_client: Client, batch: Batch) -> None:
    assert admin_client.get(address(batch), {"task": "none"}).status_code == 404
    assert admin_client.get(address(batch), {"order": "none"}).status_code == 404


def test_draws_the_scatter(admin_client: Client, batch: Batch) -> None:
    assert admin_client.get(address(batch, "figure/fragment/")).content.startswith(b"<svg")


def test_says_that_nobody_answered_yet(admin_client: Client) -> None:
    assert "Nobody has answered" in page(admin_client, measured.cell([]))


@pytest.mark.parametrize("rest", ["", "figure/svg/", "1/"])
def test_does_not_exist_for_strangers(client: Client, batch: Batch, rest: str) -> None:
    assert client.get(address(batch, rest))["Location"].startswith("/admin/login/")
    client.force_login(User.objects.create_user("somebody"))
    assert client.get(address(batch, rest)).status_code == 404


def test_keeps_the_choices_of_the_table_when_it_is_filtered(
    admin_client: Client, batch: Batch
) -> None:
    text = page(admin_client, batch, gold_version="1", estimand="these_items", simulated="on")
    for field in (
        '<input type="hidden" name="gold_version" value="1">',
        '<input type="hidden" name="estimand" value="these_items">',
        '<input type="hidden" name="simulated" value="on">',
    ):
        assert field in text


def test_counts_people_of_one_pool_at_one_number_of_shots(
    batch: Batch,
) -> None:
    cells = task_cells(batch.task, Scope(batch.study.benchmark, batch.study), Choices())
    [people], [run] = cells
    by_pool = [replace(people, pool=pool) for pool in ("Crowd", "Experts")]
    found = narrowed((by_pool, [run]), Choices(shots=("3",)), "Crowd")
    assert ([cell.pool for cell in found[0]], len(found[1])) == (["Crowd"], int(run.shots == 3))
    assert narrowed((by_pool, [run]), Choices(), "") == (by_pool, [run])
    assert narrowed((by_pool, [run]), Choices(shots=("7",)), "") == ([], [])


def test_offers_the_shots_that_there_are(admin_client: Client, batch: Batch) -> None:
    measured.run(batch.task, system="Other", shots=30, split=1)
    text = page(admin_client, batch, shots="30")
    assert '<option value="30" selected>30 shots</option>' in text
    assert '<select name="pool">' not in text
