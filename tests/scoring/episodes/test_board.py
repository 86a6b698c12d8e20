import csv
import json
from io import StringIO
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from scipy import stats

from annotation.models import Benchmark, ItemSet, Task
from annotation.simulation.simulating import simulate_study
from scoring.cells.vectors import scored_items
from scoring.core.bootstrap import episode_score
from scoring.core.episodes import EpisodeRules
from scoring.episodes.board import EpisodeBoard, EpisodeEntry, episode_board, paired_tests
from scoring.models import Run
from tests import make
from tests.annotation.benchmarks.sampled import data_set, sampled_task, study_of
from tests.every import every
from tests.scoring.comparison import measured
from tests.scoring.episodes.measured import ITEMS, answered, worked

pytestmark = pytest.mark.django_db


def board_of(task: Task, **options: Any) -> EpisodeBoard:
    return episode_board(task.benchmark, sees_gold=True, **options)


def named(board: EpisodeBoard, name: str) -> EpisodeEntry:
    return next(entry for entry in board.entries if entry.who.name == name)


def test_gives_mean_sd_and_interval_over_the_episodes_of_a_data_set() -> None:
    task = sampled_task()
    wrong = {1: 0, 2: 3, 3: 6, 7: 6, 8: 9}
    answered(task, wrong)
    board = board_of(task)
    assert board.settings == {("topics", False): 6, ("topics", True): 6}
    entry = named(board, "UniFew")
    few = [1 - wrong[episode] / ITEMS for episode in (1, 2, 3)]
    figure = entry.figures["topics", True]
    assert figure == episode_score(few, rng=np.random.default_rng(20211206))
    assert (figure.mean, figure.sd) == pytest.approx((np.mean(few), np.std(few)))
    assert entry.overall == pytest.approx((0.375, 0.75, (0.75 + 0.375) / 2))


def test_averages_an_episode_over_its_annotators() -> None:
    task = sampled_task()
    study = worked(task, {1: [0, 6], 7: [3]})
    entry = named(board_of(task), study.title)
    scores = {result.episode: (result.score, result.n) for result in entry.results}
    assert scores == {1: (pytest.approx(0.75), 2), 7: (pytest.approx(0.75), 1)}


def test_is_in_the_form_of_flex_over_several_data_sets() -> None:
    first = sampled_task()
    second = sampled_task(task="more", seed=2)
    answered(first, {1: 3, 7: 6})
    answered(second, {1: 6, 7: 12})
    rows = sheet(first.benchmark, "board")
    assert [(row["who"], row["method"]) for row in rows] == [("UniFew", "FT")]
    figures = {key: value for key, value in rows[0].items() if "_" not in key}
    assert {key: float(figures[key]) for key in list(figures)[-7:]} == {
        "more-0": 0,
        "more-few": 50,
        "topics-0": 50,
        "topics-few": 75,
        "overall-0": 25,
        "overall-few": 62.5,
        "overall": 43.75,
    }


def test_has_no_overall_mean_where_a_data_set_is_missing() -> None:
    first = sampled_task()
    sampled_task(task="more", seed=2)
    answered(first, {1: 3, 7: 6})
    entry = named(board_of(first), "UniFew")
    assert entry.overall == (None, None, None)


def test_takes_the_few_shot_mean_alone_where_nothing_is_zero_shot() -> None:
    task = sampled_task(rules=EpisodeRules(few_shot=2, zero_shot=0, most_test=4))
    answered(task, {1: 3, 2: 3})
    overall = named(board_of(task), "UniFew").overall
    assert overall == (None, 0.75, 0.75)


def test_leaves_out_an_episode_that_is_not_whole() -> None:
    task = sampled_task()
    answered(task, {1: 0})
    answered(task, {2: 0}, missing=1)
    assert [result.episode for result in named(board_of(task), "UniFew").results] == [1]


def test_shows_people_of_a_running_study_to_researchers_alone() -> None:
    task = sampled_task()
    study = worked(task, {7: [3]}, closed=False)
    assert board_of(task).entries == ()
    assert named(board_of(task, for_researchers=True), study.title).is_running


def test_shows_simulated_annotators_where_they_are_asked_for() -> None:
    task = sampled_task()
    study = study_of(task, [7])
    simulate_study(study, skill=0.8, seed=1, at=make.NOON)
    assert board_of(task, for_researchers=True).entries == ()
    [entry] = board_of(task, simulated=True).entries
    assert entry.who.kind == "simulated"


def test_shows_one_protocol_alone() -> None:
    task = sampled_task()
    answered(task, {1: 0}, system="A", protocol=["pretraining-only"])
    answered(task, {1: 1}, system="B", protocol=["meta-trained"])
    board = board_of(task, protocol="meta-trained")
    assert [entry.who.name for entry in board.entries] == ["B"]
    assert board.entries[0].protocol == ("meta-trained",)


def test_orders_by_the_overall_mean() -> None:
    task = sampled_task(rules=EpisodeRules(few_shot=2, zero_shot=0, most_test=4))
    answered(task, {1: 3}, system="A")
    answered(task, {1: 0}, system="B")
    assert [entry.who.name for entry in board_of(task).entries] == ["B", "A"]


def test_tests_two_lines_on_the_episodes_that_both_finished() -> None:
    task = sampled_task()
    people = worked(task, {1: [0], 2: [1], 3: [0], 4: [2]})
    answered(task, {1: 3, 2: 4, 3: 2, 5: 0})
    [test] = paired_tests(board_of(task))
    differences = np.array([3, 3, 2]) / ITEMS
    sign = 1 if test.first.name == people.title else -1
    assert (test.score.episodes, test.setting) == (3, ("topics", True))
    assert sign * test.score.mean == pytest.approx(differences.mean())
    assert test.p == pytest.approx(stats.ttest_1samp(differences, 0).pvalue)
    assert test.score.low <= test.score.mean <= test.score.high


def test_adjusts_the_tests_for_their_number() -> None:
    task = sampled_task(data=data_set())
    for system, wrong in (("A", 0), ("B", 2), ("C", 5)):
        answered(task, dict.fromkeys(range(1, 7), wrong), system=system)
    tests = paired_tests(board_of(task))
    assert len(tests) == 3
    assert every(test.p_holm == pytest.approx(min(1, 3 * test.p)) for test in tests)


def test_reads_many_sets_as_it_reads_one() -> None:
    task = sampled_task()
    sets = list(ItemSet.objects.filter(task=task, role="test"))
    together = scored_items(task, sets, 1)
    assert len(together) == len(sets)
    for item_set in sets:
        alone = scored_items(task, [item_set], 1)
        assert alone.keys() == {item_set.pk}
        assert vars(alone[item_set.pk]) == vars(together[item_set.pk])


def test_reads_the_items_of_all_episodes_together(django_assert_max_num_queries: Any) -> None:
    task = sampled_task()
    answered(task, dict.fromkeys(range(1, 13), 1))
    board_of(task)
    with django_assert_max_num_queries(9):
        board_of(task)


def sheet(benchmark: Benchmark, name: str) -> list[dict[str, str]]:
    out = StringIO()
    call_command("export_episode_board", benchmark=benchmark.name, sheet=name, stdout=out)
    return list(csv.DictReader(StringIO(out.getvalue())))


def test_exports_the_result_of_every_episode() -> None:
    task = sampled_task()
    answered(task, {1: 3, 7: 6})
    worked(task, {7: [0]})
    rows = sheet(task.benchmark, "episodes")
    assert [(row["task"], row["episode"], row["way"], row["accuracy"]) for row in rows] == [
        ("topics", "1", "3", "75.0"),
        ("topics", "7", "3", "50.0"),
        ("topics", "7", "3", "100.0"),
    ]
    assert rows[2]["who"].startswith("Human, ")


def test_exports_all_tables_in_one_document() -> None:
    task = sampled_task()
    answered(task, {1: 3, 2: 6})
    out = StringIO()
    call_command("export_episode_board", sheet="all", format="json", stdout=out)
    document = json.loads(out.getvalue())
    assert list(document) == ["board", "figures", "episodes", "tests"]
    assert document["figures"][0]["sd_ddof0"] == pytest.approx(12.5)
    assert document["figures"][0]["of"] == 6


def test_says_that_a_benchmark_has_no_episodes() -> None:
    make.task()
    with pytest.raises(CommandError, match="has no episodes"):
        call_command("export_episode_board")


def test_keeps_runs_of_no_episode_off_the_board() -> None:
    task = make.task()
    measured.run(task)
    assert Run.objects.count() == 1
    assert board_of(task).entries == ()
