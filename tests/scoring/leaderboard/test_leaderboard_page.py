import csv
import json
from copy import deepcopy
from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from annotation.models import Benchmark, Task
from annotation.studies.lifecycle import close_study
from scoring.models import Leaderboard, Run
from tests import make
from tests.made_once import once_a_module
from tests.scoring.comparison import measured
from tests.scoring.leaderboard.board import published, system

pytestmark = pytest.mark.django_db


def made_task() -> Task:
    """Of a public board, with a system that is ranked."""
    made = make.task(make.benchmark("mine"), tests=4, slug="one")
    Leaderboard.objects.create(benchmark=made.benchmark, is_public=True)
    system(made, citation="Somebody 2021", url="https://example.org/code", uses_labelled=True)
    return made


task_once = once_a_module(made_task)


@pytest.fixture
def task(task_once: Task) -> Task:
    return deepcopy(task_once)


def page(client: Client, benchmark: Benchmark, **chosen: str) -> str:
    response = client.get(f"/benchmarks/{benchmark.name}/leaderboard/", chosen)
    assert response.status_code == 200
    return response.content.decode()


def test_shows_everybody_a_public_board(client: Client, task: Task) -> None:
    published(task.benchmark, "one", {10: 60.0, 20: 70.0, 30: 80.0})
    text = page(client, task.benchmark)
    assert '<span class="rank">1</span>' in text
    assert '<a href="https://example.org/code" rel="nofollow noopener">BERT-Base</a>' in text
    assert "Somebody 2021" in text
    assert "published: CLUES Table 6" in text
    assert "Published without its reference policy" in text
    assert "No skill" in text


def test_says_the_name_of_a_task_and_exports_its_slug(client: Client, task: Task) -> None:
    other = make.task(task.benchmark, tests=4, slug="conll", name="CoNLL03")
    system(other)
    text = page(client, task.benchmark)
    assert "CoNLL03, 30 shots" in text
    assert "> CoNLL03</label>" in text
    assert "> conll</label>" not in text
    for table in ("averages", "figures"):
        address = f"/benchmarks/{task.benchmark.name}/leaderboard/export/{table}"
        assert "CoNLL03" in client.get(f"{address}/markdown/").content.decode()
        bare = client.get(f"{address}/csv/").content.decode()
        assert "conll" in bare
        assert "CoNLL03" not in bare


def test_shows_people_with_their_number_and_interval(client: Client) -> None:
    batch = measured.cell([3, 4, 5], training=10)
    benchmark = batch.task.benchmark
    Leaderboard.objects.create(benchmark=benchmark, is_public=True)
    close_study(batch.study, at=make.NOON)
    text = page(client, benchmark)
    assert f"Human, {batch.study.title}" in text
    assert "n = 3" in text
    for assignment in batch.assignments.all():
        assert assignment.annotator.pseudonym not in text


def test_says_why_a_system_is_not_ranked(client: Client, task: Task) -> None:
    system(task, "short", without=[(30, 5)])
    text = page(client, task.benchmark)
    assert "Not ranked" in text
    assert "30 shots: no whole run on split 5" in text


def test_tells_strangers_nothing_of_what_waits(
    client: Client, admin_client: Client, task: Task
) -> None:
    system(task, "waiting", owner=User.objects.create_user("submitter"))
    text = page(client, task.benchmark)
    assert "waiting" not in text
    assert "submitter" not in text
    assert "your decision" not in text
    assert "15 submitted runs wait for your decision" in page(admin_client, task.benchmark)


def test_follows_the_readers_choices(client: Client, task: Task) -> None:
    make.task(task.benchmark, slug="two")
    assert "<h2>Average over 2 tasks" in page(client, task.benchmark)
    assert "<h2>Average over" not in page(client, task.benchmark, task="one")
    assert "references: set" in page(client, task.benchmark, references="set")


def test_refuses_a_reference_policy_that_does_not_exist(client: Client, task: Task) -> None:
    assert client.get("/benchmarks/mine/leaderboard/", {"references": "best"}).status_code == 404


def test_says_that_nobody_stands_there_yet(admin_client: Client) -> None:
    benchmark = make.benchmark()
    assert "This board is empty so far" in page(admin_client, benchmark)


@pytest.mark.parametrize("rest", ["", "export/figures/csv/"])
@pytest.mark.parametrize(
    ("who", "is_public", "status"),
    [
        ("stranger", True, 200),
        ("submitter", True, 200),
        ("staff", True, 200),
        ("viewer", True, 200),
        ("stranger", False, 302),
        ("submitter", False, 404),
        ("staff", False, 404),
        ("viewer", False, 200),
    ],
)
def test_opens_to_those_who_may_read_it(
    client: Client, task: Task, who: str, is_public: bool, status: int, rest: str
) -> None:
    Leaderboard.objects.update(is_public=is_public)
    if who != "stranger":
        user = (
            make.member(task.benchmark, "viewer")
            if who == "viewer"
            else User.objects.create_user(who, is_staff=who == "staff")
        )
        client.force_login(user)
    assert client.get(f"/benchmarks/mine/leaderboard/{rest}").status_code == status


def test_does_not_tell_strangers_which_boards_exist(client: Client, task: Task) -> None:
    Leaderboard.objects.all().delete()
    there, not_there = (
        client.get(f"/benchmarks/{name}/leaderboard/") for name in ("mine", "no-such")
    )
    assert there.status_code == not_there.status_code == 302
    assert there["Location"] == "/admin/login/?next=/benchmarks/mine/leaderboard/"
    client.force_login(User.objects.create_user("submitter"))
    assert client.get("/benchmarks/no-such/leaderboard/").status_code == 404


def test_exports_every_figure_unrounded_to_those_who_see_gold(
    admin_client: Client, task: Task
) -> None:
    system(task, "third", wrong={1: 1, 2: 1})
    response = admin_client.get("/benchmarks/mine/leaderboard/export/figures/csv/")
    rows = list(csv.DictReader(StringIO(response.content.decode())))
    assert response["Content-Disposition"].endswith('filename="leaderboard-figures-mine.csv"')
    figures = {(row["system"], row["shots"]): row for row in rows if row["kind"] == "system"}
    assert len(figures) == 6
    assert figures["BERT-Base", "30"]["rank"] == "1"
    assert figures["BERT-Base", "30"]["external_labelled"] == "True"
    assert float(figures["third", "30"]["mean"]) == pytest.approx(90)
    assert figures["third", "30"]["n"] == "5"
    assert figures["third", "30"]["estimand"] == "new_items"
    assert (figures["third", "30"]["m"], figures["third", "30"]["references"]) == ("4", "any")


def test_shows_everybody_else_rounded_means_without_intervals(client: Client, task: Task) -> None:
    three = make.task(task.benchmark, tests=3, slug="three")
    system(three, wrong={1: 1, 2: 1, 3: 2})
    response = client.get("/benchmarks/mine/leaderboard/export/all/json/")
    tables = json.loads(response.content)
    [figure] = [
        row
        for row in tables["figures"]
        if (row["system"], row["task"], row["shots"]) == ("BERT-Base", "three", 30)
    ]
    # From 66.7, 66.7, 33.3, 100 and 100.
    assert (figure["mean"], figure["sd"], figure["rank"]) == (73.3, 27.9, 1)
    assert figure["m"] == 3
    withheld = ("ci_low", "ci_high", "ci_method", "estimand")
    assert [figure[name] for name in withheld] == [None] * 4
    [best] = [row for row in tables["averages"] if row["rank"] == 1]
    assert (best["mean"], best["sd"]) == (86.7, 13.9)


def test_says_why_runs_show_no_score_under_another_policy(client: Client, task: Task) -> None:
    text = page(client, task.benchmark, references="set")
    assert "under the task’s own reference policy alone" in text
    assert '<span class="rank">1</span>' not in text


def test_does_not_rank_answers_with_too_many_pieces(admin_client: Client, task: Task) -> None:
    both = {
        item.example_id: ["bad", "good"] for item in task.item_sets.get(name="test").items.all()
    }
    system(task, "Both", answers=both)
    text = page(admin_client, task.benchmark)
    assert "30 shots: answers with more pieces than a right answer could have" in text


def test_exports_both_deviations_of_an_average(admin_client: Client, task: Task) -> None:
    two = make.task(task.benchmark, tests=4, slug="two")
    system(two, wrong={1: 1})
    response = admin_client.get("/benchmarks/mine/leaderboard/export/all/json/")
    rows = json.loads(response.content)["averages"]
    [best] = [row for row in rows if row["kind"] == "system" and row["shots"] == 30]
    assert best["rank"] == 1
    assert best["tasks"] == "one two"
    assert best["references"] == "any"
    assert best["clues_root_sum_sd"] == pytest.approx(25 / 5**0.5)
    assert best["sd"] == pytest.approx(best["clues_root_sum_sd"] / 2)


@pytest.mark.parametrize("rest", ["all/csv", "figures/pdf", "nothing/csv"])
def test_does_not_find_exports_that_are_not_there(client: Client, task: Task, rest: str) -> None:
    assert client.get(f"/benchmarks/mine/leaderboard/export/{rest}/").status_code == 404


@pytest.mark.parametrize("form", ["latex", "markdown", "xlsx"])
def test_exports_both_tables_in_one_document(client: Client, task: Task, form: str) -> None:
    response = client.get(f"/benchmarks/mine/leaderboard/export/all/{form}/")
    assert response.status_code == 200
    assert response.content


def test_prints_for_a_paper_what_the_page_shows(client: Client, task: Task) -> None:
    system(make.task(task.benchmark, tests=4, slug="conll", name="CoNLL03"))
    address = f"/benchmarks/{task.benchmark.name}/leaderboard/export"
    text = client.get(f"{address}/averages/markdown/").content.decode()
    heads = next(line for line in text.splitlines() if line.startswith("| Who"))
    names = [head.strip() for head in heads.strip("|").split("|")]
    assert names[:3] == ["Who", "", "Average, 30 shots"]
    assert set(names[3:]) == {"one, 30 shots", "CoNLL03, 30 shots"}
    assert "| BERT-Base | FT | 100.0 | 100.0 ± 0.0 | 100.0 ± 0.0 |" in text
    by_task = client.get(f"{address}/figures/latex/").content.decode()
    assert by_task.count(r"\begin{longtable}") == 2
    assert r"30 shots & 20 shots & 10 shots \\" in by_task
    assert client.get(f"{address}/nothing/latex/").status_code == 404


def test_reads_no_more_for_more_systems(
    client: Client, task: Task, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    page(client, task.benchmark)
    with django_assert_num_queries(18):
        page(client, task.benchmark)
    system(task, "another")
    system(task, "a third", wrong={1: 1})
    assert Run.objects.count() == 45
    page(client, task.benchmark)
    with django_assert_num_queries(18):
        page(client, task.benchmark)


def test_exports_in_english_whatever_the_page_speaks(client: Client, task: Task) -> None:
    system(task, "short", without=[(30, 5)])
    response = client.get(
        "/benchmarks/mine/leaderboard/export/figures/csv/", headers={"accept-language": "de"}
    )
    assert "30 shots: no whole run on split 5" in response.content.decode()
