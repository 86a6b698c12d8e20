import csv
import re
from io import StringIO

import pytest
from django.contrib.auth import get_user
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from annotation.models import Benchmark, Task
from scoring.models import Leaderboard
from tests import make
from tests.annotation.benchmarks.sampled import sampled_task
from tests.scoring.episodes.measured import answered, worked

pytestmark = pytest.mark.django_db


@pytest.fixture
def flex() -> str:
    task = sampled_task()
    answered(task, {1: 3, 2: 6, 7: 6}, protocol=["meta-trained"])
    worked(task, {1: [0], 2: [3], 7: [3]}, closed=False)
    return task.benchmark.name


def page(client: Client, name: str, **query: str) -> str:
    response = client.get(reverse("scoring:episodes", args=[name]), query)
    assert response.status_code == 200
    return " ".join(re.sub(r"<[^>]+>", " ", response.content.decode()).split())


def test_shows_the_board_with_its_intervals_and_tests(admin_client: Client, flex: str) -> None:
    text = page(admin_client, flex)
    assert "UniFew FT Meta-trained 50.0 62.5 56.2" in text.replace("meta-trained", "Meta-trained")
    assert "62.5 [50.0–75.0], covers less 2 of 6 episodes" in text
    assert "(not finished)" in text
    assert "Tests on the same episodes" in text


def test_says_the_name_of_a_data_set_and_exports_its_slug(admin_client: Client, flex: str) -> None:
    slug = Task.objects.get().slug
    Task.objects.update(name="Movie reviews")
    text = page(admin_client, flex)
    assert "Movie reviews" in text
    for sheet in ("figures", "episodes", "tests"):
        read, bare = (
            admin_client.get(reverse("scoring:episodes_export", args=[flex, sheet, form]))
            for form in ("markdown", "csv")
        )
        assert "Movie reviews" in read.content.decode()
        assert slug in bare.content.decode()
        assert "Movie reviews" not in bare.content.decode()


def test_leads_researchers_back(admin_client: Client, flex: str) -> None:
    Leaderboard.objects.create(benchmark=Benchmark.objects.get(name=flex), is_public=True)
    assert "Benchmarks › Comparison › Episodes" in page(admin_client, flex)
    assert "Benchmarks › Comparison" not in page(Client(), flex)


def test_shows_the_systems_of_one_protocol(admin_client: Client, flex: str) -> None:
    assert "UniFew" not in page(admin_client, flex, protocol="pretraining-only")


def test_exports_every_sheet(admin_client: Client, flex: str) -> None:
    for sheet, form in (("board", "csv"), ("episodes", "csv"), ("all", "json"), ("all", "xlsx")):
        address = reverse("scoring:episodes_export", args=[flex, sheet, form])
        response = admin_client.get(address)
        assert response.status_code == 200
        assert f'filename="{sheet}-{flex}.' in response["Content-Disposition"]


def test_has_no_csv_of_several_tables_and_no_unknown_sheet(admin_client: Client, flex: str) -> None:
    for sheet, form in (("all", "csv"), ("nothing", "csv"), ("board", "pdf")):
        address = reverse("scoring:episodes_export", args=[flex, sheet, form])
        assert admin_client.get(address).status_code == 404


@pytest.mark.parametrize(
    ("who", "is_public", "status"),
    [
        ("nobody", False, 302),
        ("nobody", True, 200),
        ("member", False, 404),
        ("member", True, 200),
        ("staff", False, 404),
        ("viewer", False, 200),
    ],
)
def test_is_read_by_researchers_and_by_everybody_once_it_is_public(
    flex: str, who: str, is_public: bool, status: int
) -> None:
    task = sampled_task()
    Leaderboard.objects.create(benchmark=task.benchmark, is_public=is_public)
    client = Client()
    if who != "nobody":
        user = (
            make.member(task.benchmark, "viewer")
            if who == "viewer"
            else User.objects.create(username=who, is_staff=who == "staff")
        )
        client.force_login(user)
    for address in (
        reverse("scoring:episodes", args=[flex]),
        reverse("scoring:episodes_export", args=[flex, "board", "csv"]),
    ):
        assert client.get(address).status_code == status


def test_tells_nobody_of_a_running_study_but_researchers(flex: str) -> None:
    Leaderboard.objects.create(benchmark=sampled_task().benchmark, is_public=True)
    assert "Human" not in page(Client(), flex)


def test_has_no_page_for_a_benchmark_without_episodes(admin_client: Client) -> None:
    name = make.task().benchmark.name
    assert admin_client.get(reverse("scoring:episodes", args=[name])).status_code == 404
    assert admin_client.get(reverse("scoring:episodes", args=["nowhere"])).status_code == 404


@pytest.mark.parametrize("rest", ["comparison/", "comparison/analysis/", "leaderboard/"])
def test_is_linked_where_other_figures_of_the_benchmark_stand(
    admin_client: Client, flex: str, rest: str
) -> None:
    assert (
        f'href="/benchmarks/{flex}/episodes/"'
        in admin_client.get(f"/benchmarks/{flex}/{rest}").content.decode()
    )


def test_has_its_figures_in_the_comparison_and_not_on_the_leaderboard_of_clues(
    admin_client: Client, flex: str
) -> None:
    comparison = admin_client.get(f"/benchmarks/{flex}/comparison/").content.decode()
    assert "few" in comparison
    assert "UniFew" in comparison
    leaderboard = admin_client.get(f"/benchmarks/{flex}/leaderboard/").content.decode()
    assert "UniFew" not in leaderboard
    assert "This board is empty so far" in leaderboard


ALL_RIGHT_BUT = {1: 1, 2: 2, 3: 0, 4: 5, 5: 0, 6: 0}


def figures(client: Client, name: str, sheet: str = "figures") -> list[dict[str, str]]:
    address = reverse("scoring:episodes_export", args=[name, sheet, "csv"])
    return list(csv.DictReader(StringIO(client.get(address).content.decode())))


@pytest.fixture
def reader() -> Client:
    """A viewer, who may not see the gold."""
    client = Client()
    benchmark, _ = Benchmark.objects.get_or_create(name="flex")
    client.force_login(make.member(benchmark, "viewer"))
    return client


def test_shows_a_system_that_answered_every_episode_one_rounded_mean(
    reader: Client, admin_client: Client
) -> None:
    task = sampled_task()
    answered(task, ALL_RIGHT_BUT)
    [shown] = figures(reader, "flex")
    # 64 of 72 questions.
    assert (shown["mean"], shown["episodes"], shown["of"]) == ("88.9", "6", "6")
    assert (shown["sd_ddof0"], shown["ci_low"], shown["ci_high"]) == ("", "", "")
    assert figures(reader, "flex", "episodes") == figures(reader, "flex", "tests") == []
    [whole] = figures(admin_client, "flex")
    assert whole["ci_low"]
    assert len(figures(admin_client, "flex", "episodes")) == 6
    text = page(reader, "flex")
    assert "88.9" in text
    assert "[" not in text


@pytest.mark.parametrize(
    ("first", "more"),
    [({1: 0, 2: 0, 3: 0, 4: 0, 5: 0}, {}), (ALL_RIGHT_BUT, {1: 3}), ({7: 1}, {})],
    ids=["an episode is missing", "one episode twice", "one of six"],
)
def test_shows_no_mean_that_some_episodes_move_alone(
    reader: Client, first: dict[int, int], more: dict[int, int]
) -> None:
    task = sampled_task()
    answered(task, first)
    answered(task, more)
    assert figures(reader, "flex") == []


def test_a_protocol_chooses_systems_and_not_some_of_their_runs(reader: Client) -> None:
    task = sampled_task()
    answered(task, ALL_RIGHT_BUT, protocol=["meta-trained"])
    answered(task, dict.fromkeys(ALL_RIGHT_BUT, 6))
    address = reverse("scoring:episodes_export", args=["flex", "figures", "csv"])
    every, some = (
        reader.get(address, chosen).content for chosen in ({}, {"protocol": "meta-trained"})
    )
    assert every == some


def test_rounds_what_people_scored(reader: Client) -> None:
    task = sampled_task()
    worked(task, {1: [1], 2: [2], 7: [5]})
    shown = figures(reader, "flex")
    assert len(shown) == 2
    for row in shown:
        for name in ("mean", "sd_ddof0", "ci_low", "ci_high"):
            assert re.fullmatch(r"(\d+(\.\d)?)?", row[name]), row


def test_a_run_on_one_episode_shows_no_score_over_the_api(reader: Client) -> None:
    task = sampled_task()
    answered(task, {1: 1}, owner=get_user(reader))
    response = reader.get(f"/api/runs/{task.runs.get().pk}/scores/")
    assert response.status_code == 409
    assert "the board of episodes shows the mean" in response.json()["detail"]
