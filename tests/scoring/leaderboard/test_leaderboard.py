from collections import Counter
from copy import deepcopy
from pathlib import Path

import pytest
from django.contrib.auth.models import User

from annotation.benchmarks.correcting import correct_gold
from annotation.benchmarks.importing import import_benchmark
from annotation.models import Benchmark, Channel, Exclusion, Kind, Task
from annotation.studies.lifecycle import close_study
from scoring.cells.rows import Row, RowKind, withheld_row
from scoring.leaderboard.approving import decide_runs
from scoring.leaderboard.board import place_all
from scoring.leaderboard.rules import CLUES, SHOTS, SYSTEM, Entry, Ranking, on_task, ranked
from scoring.models import Comparison
from scoring.runs.formats.records import ReadOptions
from scoring.runs.formats.reported import import_scores
from tests import make
from tests.made_once import once_a_module
from tests.scoring.comparison import measured
from tests.scoring.leaderboard.board import order, place_on, published, system

pytestmark = pytest.mark.django_db


task_once = once_a_module(lambda: make.task(tests=4, slug="one", kind=Kind.SPANS))


@pytest.fixture
def task(task_once: Task) -> Task:
    return deepcopy(task_once)


def with_published_figures(clues: Benchmark, oracles: Path) -> Benchmark:
    file = oracles / "clues_results.json"
    import_scores(path=file, benchmark=clues, options=ReadOptions())
    return clues


def second_task(benchmark: Benchmark) -> Task:
    return make.task(benchmark, tests=4, slug="two", kind=Kind.SPANS)


def test_ranks_systems_by_their_mean_at_30_shots_over_all_tasks(task: Task) -> None:
    two = second_task(task.benchmark)
    for each in (task, two):
        system(each, "weak", wrong=dict.fromkeys(range(1, 6), 3))
        system(each, "strong", wrong={1: 1})
    board = place_all(task.benchmark, sees_gold=True)
    assert [pair for pair in order(board) if pair[1]] == [("strong", 1), ("weak", 2)]
    strong = board.over_tasks[0]
    assert strong.averages[30].mean == pytest.approx(95)
    # One split of five lost one of four items: SD 25/√5 on each task.
    assert strong.averages[30].sd == pytest.approx((2 * 25**2 / 5) ** 0.5 / 2)
    assert strong.averages[30].clues_sd == pytest.approx((2 * 25**2 / 5) ** 0.5)


@pytest.mark.parametrize(
    ("without", "reason"),
    [
        ([(10, 4), (10, 5)], "10 shots: no whole run on split 4, 5"),
        ([(20, split) for split in range(1, 6)], "20 shots: no run"),
        ([(30, 1)], "30 shots: no whole run on split 1"),
    ],
)
def test_asks_for_all_shots_and_all_splits(
    task: Task, without: list[tuple[int, int]], reason: str
) -> None:
    system(task, without=without)
    ranking = place_on(task.benchmark, "one", "BERT-Base")
    assert ranking.rank is None
    assert ranking.gaps == (reason,)


def test_asks_for_an_answer_to_every_item(task: Task) -> None:
    system(task, without=[(20, 3)])
    measured.run(task, system="BERT-Base", shots=20, split=3, missing=1)
    ranking = place_on(task.benchmark, "one", "BERT-Base")
    assert ranking.rank is None
    assert ranking.gaps == ("20 shots: no whole run on split 3",)


def test_a_trial_beside_whole_runs_takes_no_rank(task: Task) -> None:
    system(task)
    measured.run(task, system="BERT-Base", shots=20, split=3, missing=1)
    assert place_on(task.benchmark, "one", "BERT-Base").rank == 1


def test_asks_for_the_same_number_of_runs_on_every_split(task: Task) -> None:
    system(task)
    measured.run(task, system="BERT-Base", shots=10, split=2, wrong=1)
    ranking = place_on(task.benchmark, "one", "BERT-Base")
    assert ranking.gaps == ("10 shots: more runs on some splits than on others",)


def test_takes_several_runs_on_every_split(task: Task) -> None:
    system(task)
    system(task, wrong=dict.fromkeys(range(1, 6), 2))
    ranking = place_on(task.benchmark, "one", "BERT-Base")
    assert (ranking.rank, ranking.gaps) == (1, ())
    assert ranking.mean == pytest.approx(75)


@pytest.mark.parametrize("split", [6, None])
def test_does_not_rank_runs_outside_the_five_splits(task: Task, split: int | None) -> None:
    system(task)
    measured.run(task, system="BERT-Base", shots=30, split=split)
    ranking = place_on(task.benchmark, "one", "BERT-Base")
    assert ranking.gaps == ("30 shots: runs outside the five splits",)


def test_ranks_over_tasks_only_who_is_ranked_on_each(task: Task) -> None:
    two = second_task(task.benchmark)
    system(task, "whole")
    system(two, "whole")
    system(task, "one task")
    system(task, "short")
    system(two, "short", without=[(10, 1)])
    board = place_all(task.benchmark, sees_gold=True)
    by_name = {line.entry.name: line for line in board.over_tasks}
    assert by_name["whole"].rank == 1
    assert by_name["one task"].gaps == ("nothing on two",)
    assert by_name["short"].gaps == ("not ranked on two",)
    assert [line.entry.name for line in board.over_tasks][-2:] == ["short", "one task"]
    assert place_on(task.benchmark, "one", "one task").rank == 1


def test_averages_over_the_tasks_that_the_reader_chose(task: Task) -> None:
    second_task(task.benchmark)
    system(task, "one task")
    board = place_all(task.benchmark, tasks=["one"], sees_gold=True)
    assert board.chosen == ("one",)
    assert board.tasks == ("one", "two")
    assert ("one task", 1) in order(board)
    assert place_all(task.benchmark, tasks=["no such task"], sees_gold=True).chosen == (
        "one",
        "two",
    )


def test_gives_equal_means_one_rank() -> None:
    means = dict(zip("abcd", [50.0, 70.0, 50.0, 40.0], strict=True))
    found = ranked(Ranking(Entry(SYSTEM, name), mean, None, ()) for name, mean in means.items())
    assert [(ranking.entry.name, ranking.rank) for ranking in found] == [
        ("b", 1),
        ("a", 2),
        ("c", 2),
        ("d", 4),
    ]


def test_keeps_apart_systems_of_other_parameters_and_methods(task: Task) -> None:
    system(task, parameters="110M")
    system(task, parameters="336M", wrong=dict.fromkeys(range(1, 6), 1))
    system(task, method="PT", wrong=dict.fromkeys(range(1, 6), 2))
    [board] = place_all(task.benchmark, sees_gold=True).by_task
    found = [(p.entry.method, p.entry.parameters, p.rank) for p in board.rankings if p.rank]
    assert found == [("FT", "110M", 1), ("FT", "336M", 2), ("PT", "", 3)]


def test_shows_what_no_skill_earns_at_its_place_without_a_rank() -> None:
    task = make.task(tests=6, kind=Kind.CHOICE)
    system(task, "good")
    system(task, "bad", wrong=dict.fromkeys(range(1, 6), 6))
    [board] = place_all(task.benchmark, sees_gold=True).by_task
    names = [(ranking.entry.name, ranking.rank) for ranking in board.rankings]
    assert names == [("good", 1), ("No skill", None), ("bad", 2)]
    floor = board.rankings[1]
    labels = [measured.gold(e)[0] for e in task.item_sets.get(name="test").examples.all()]
    assert floor.mean == pytest.approx(100 * max(Counter(labels).values()) / 6)
    assert floor.entry.row(task.slug, 30).source == "the best single label everywhere"


def test_shows_people_of_a_closed_study_at_their_place_without_a_rank() -> None:
    batch = measured.cell([5, 5, 5], training=10, tests=4)
    task = batch.task
    system(task, "good")
    assert [
        p.entry.kind for p in place_all(task.benchmark, sees_gold=True).by_task[0].rankings
    ].count("people") == 0
    close_study(batch.study, at=make.NOON)
    ranking = place_on(task.benchmark, task.slug, f"Human, {batch.study.title}")
    assert (ranking.rank, ranking.gaps) == (None, ())
    row = ranking.entry.row(task.slug, 10)
    assert row.n == 3
    assert row.ci_low is not None


def test_shows_people_of_a_running_study_to_researchers_alone() -> None:
    batch = measured.cell([1, 2], training=10)
    benchmark = batch.task.benchmark
    names = [entry.name for entry in place_all(benchmark, sees_gold=True).entries]
    assert not any(name.startswith("Human") for name in names)
    ranking = place_on(
        benchmark, batch.task.slug, f"Human, {batch.study.title}", for_researchers=True
    )
    assert ranking.entry.is_running


def test_never_shows_simulated_or_excluded_annotators() -> None:
    batch = measured.cell([1, 2, 3], training=10)
    Exclusion.objects.create(assignment=batch.assignments.first(), reason="random answers")
    close_study(batch.study, at=make.NOON)
    ranking = place_on(batch.task.benchmark, batch.task.slug, f"Human, {batch.study.title}")
    assert ranking.entry.row(batch.task.slug, 10).n == 2
    Channel.objects.filter(annotators__assignments__batch=batch).update(is_simulated=True)
    Comparison.objects.all().delete()  # what was kept was of people
    board = place_all(batch.task.benchmark, for_researchers=True, sees_gold=True)
    assert not any(entry.kind == "people" for entry in board.entries)


def test_ranks_published_figures_with_their_source(task: Task) -> None:
    system(task, "scored", wrong=dict.fromkeys(range(1, 6), 3))
    published(task.benchmark, "one", {10: 60.0, 20: 70.0, 30: 80.0, None: 90.0})
    ranking = place_on(task.benchmark, "one", "GPT-3")
    assert ranking.rank == 1
    assert ranking.entry.source == "CLUES Table 6"
    assert ranking.entry.row("one", 30).references == "unknown"
    assert ranking.entry.row("one", "all").mean == 90


@pytest.mark.parametrize(
    ("means", "fields", "reason"),
    [
        ({10: 60.0, 30: 80.0}, {}, "20 shots: no figure"),
        ({10: 60.0, 20: 70.0, 30: 80.0}, {"n": None}, "10 shots: number of splits not stated"),
        ({10: 60.0, 20: 70.0, 30: 80.0}, {"n": 3}, "10 shots: over 3 splits, not five"),
        (
            {10: 60.0, 20: 70.0, 30: 80.0},
            {"references": "set"},
            "published under the reference policy “set”",
        ),
    ],
)
def test_does_not_rank_published_figures_that_lack_something(
    task: Task, means: dict[int, float], fields: dict[str, object], reason: str
) -> None:
    published(task.benchmark, "one", means, **fields)
    ranking = place_on(task.benchmark, "one", "GPT-3")
    assert ranking.rank is None
    assert ranking.gaps[0] == reason


def test_shows_no_figure_of_another_policy_in_a_column_of_the_board(task: Task) -> None:
    means = {10: 60.0, 20: 70.0, 30: 80.0}
    published(task.benchmark, "one", means, references="set")
    published(task.benchmark, "elsewhere", means)
    board = place_all(task.benchmark, sees_gold=True)
    ranking = place_on(task.benchmark, "one", "GPT-3")
    assert (ranking.mean, ranking.entry.row("one", 30)) == (None, None)
    # Nor in an average over tasks.
    [line] = [each for each in board.over_tasks if each.entry.name == "GPT-3"]
    assert line.averages == {}
    assert line.gaps == ("not ranked on one",)


def test_says_why_a_line_of_published_people_is_empty(task: Task) -> None:
    people = {"kind": "human", "system": "Human", "method": "", "n": 3}
    published(task.benchmark, "one", {10: 60.0, 30: 80.0}, references="set", **people)
    ranking = place_on(task.benchmark, "one", "Human")
    assert (ranking.mean, ranking.rank) == (None, None)
    assert ranking.gaps == ("published under the reference policy “set”",)
    assert place_on(task.benchmark, "one", "Human", references="set").gaps == ()


def test_ranks_a_figure_published_under_the_policy_of_the_board(task: Task) -> None:
    published(task.benchmark, "one", {10: 60.0, 20: 70.0, 30: 80.0}, references="set")
    assert place_on(task.benchmark, "one", "GPT-3", references="set").rank == 1


def test_makes_a_second_line_of_a_second_figure_for_one_place(task: Task) -> None:
    means = {10: 60.0, 20: 70.0, 30: 80.0}
    published(task.benchmark, "one", means)
    published(task.benchmark, "one", {shots: mean - 5 for shots, mean in means.items()}, source="B")
    [board] = place_all(task.benchmark, sees_gold=True).by_task
    found = [(ranking.entry.source, ranking.mean) for ranking in board.rankings if ranking.rank]
    assert found == [("CLUES Table 6", 80.0), ("B", 75.0)]


def test_lets_nobody_add_to_the_line_of_somebody_else(task: Task) -> None:
    system(task)
    other = User.objects.create_user("submitter")
    runs = system(task, owner=other, wrong=dict.fromkeys(range(1, 6), 3))
    assert place_on(task.benchmark, "one", "BERT-Base").mean == pytest.approx(100)
    editor = make.member(task.benchmark, "editor")
    decide_runs(runs, stands=True, author=editor, at=make.NOON)
    [board] = place_all(task.benchmark, sees_gold=True).by_task
    assert [ranking.rank for ranking in board.rankings if ranking.entry.name == "BERT-Base"] == [
        1,
        2,
    ]


def test_tells_what_the_runs_say_about_data_from_elsewhere(task: Task) -> None:
    system(task, "one says yes", without=[(10, 1)], uses_labelled=False, uses_unlabelled=False)
    measured.run(
        task, system="one says yes", shots=10, split=1, uses_labelled=True, uses_unlabelled=None
    )
    system(task, "no", uses_labelled=False, uses_unlabelled=False, protocol=["meta-trained"])
    entries = {entry.name: entry for entry in place_all(task.benchmark, sees_gold=True).entries}
    told = {name: (e.uses_labelled, e.uses_unlabelled) for name, e in entries.items()}
    assert told["one says yes"] == (True, None)
    assert told["no"] == (False, False)
    assert entries["no"].protocol == ("meta-trained",)


def test_scores_at_the_latest_gold(task: Task) -> None:
    system(task)
    assert place_on(task.benchmark, "one", "BERT-Base").mean == 100
    example = task.item_sets.get(name="test").items.first().example
    before = measured.gold(example)
    after = [[]] if before else [["Anna"]]
    correct_gold(task, {example.pk: after}, author=None, reason="The gold was wrong.")
    assert place_on(task.benchmark, "one", "BERT-Base").mean == pytest.approx(75)


def test_gives_the_averages_that_the_board_of_clues_printed(oracles: Path) -> None:
    """Its table of November 2021, over six tasks at 30 shots, printed with √(Σ SD²)."""
    board = place_all(with_published_figures(make.benchmark("clues"), oracles), sees_gold=True)
    printed = {
        "T5-Large": (43.1, 6.7),
        "BERT-Large": (42.1, 7.8),
        "BERT-Base": (41.5, 9.2),
        "DeBERTa-Large": (40.1, 17.8),
        "RoBERTa-Large": (40.0, 10.6),
    }
    ranked = [line for line in board.over_tasks if line.rank]
    assert [line.entry.name for line in ranked] == list(printed)
    for line in ranked:
        average = line.averages[30]
        assert (round(average.mean, 1), round(average.clues_sd, 1)) == printed[line.entry.name]
        assert average.sd == pytest.approx(average.clues_sd / 6)
    assert board.over_tasks[0].entry.kind == "people"
    assert round(board.over_tasks[0].averages[30].mean, 1) == 81.4
    assert board.not_imported == board.tasks
    unranked = [line for line in board.over_tasks if line.is_unranked]
    assert {ranking.gaps for ranking in unranked} == {
        ("nothing on conll03, wikiann, squadv2, record",)
    }


def test_finds_no_published_average_above_no_skill(clues: Path, oracles: Path) -> None:
    import_benchmark(clues, name="clues")
    benchmark = with_published_figures(Benchmark.objects.get(name="clues"), oracles)
    board = place_all(benchmark, tasks=["sst2", "conll03", "squadv2", "record"], sees_gold=True)
    [floor] = [line for line in board.over_tasks if line.entry.kind == "no_skill"]
    assert set(floor.averages) == set(SHOTS)
    models = [line.mean for line in board.over_tasks if line.rank]
    assert len(models) == 5
    assert max(models) < floor.mean


def test_takes_the_policy_that_is_told_where_nothing_is_imported(task: Task) -> None:
    published(task.benchmark, "mnli", {10: 60.0, 20: 70.0, 30: 80.0}, references="any")
    published(task.benchmark, "mnli", {10: 60.0, 20: 70.0, 30: 80.0}, system="T5")
    [board] = [
        each for each in place_all(task.benchmark, sees_gold=True).by_task if each.task == "mnli"
    ]
    assert board.scored_under == "any"
    assert [ranking.rank for ranking in board.rankings] == [1, 1]


def test_means_that_look_alike_share_a_rank_where_they_are_rounded() -> None:
    def entry(name: str, mean: float) -> Entry:
        told = {"mean": 83.3, "sd": None, "matched": False}
        row = Row(RowKind.RUN, system=name, task="one", shots=30, mean=mean, released=told)
        return Entry(SYSTEM, name, rows=(withheld_row(row),))

    alike = on_task([entry("B", 83.34), entry("C", 83.26), entry("A", 83.3)], "one")
    assert [(ranking.entry.name, ranking.rank) for ranking in alike] == [
        ("A", 1),
        ("B", 1),
        ("C", 1),
    ]


def test_opens_at_the_most_shots_that_the_benchmark_has() -> None:
    task = make.task(make.benchmark(), training=3, tests=4)
    measured.run(task, system="Few", shots=5, split=None)
    measured.run(task, system="Few", shots=0, split=None, wrong=1)
    measured.run(task, system="Five", shots=5, split=None)
    board = place_all(task.benchmark, sees_gold=True)
    [on_one] = board.by_task
    assert (board.rule.sorted_by, on_one.shots) == (5, ("0", "5"))
    # Who lacks one of its numbers of shots has no rank, as by the rules of CLUES.
    assert {r.entry.name: (r.rank, r.gaps) for r in on_one.rankings if r.entry.method} == {
        "Few": (1, ()),
        "Five": (None, ("0 shots: no run",)),
    }
    measured.run(task, system="CLUES", shots=30, split=1)
    assert place_all(task.benchmark, sees_gold=True).rule == CLUES


def test_opens_at_the_highest_number_of_shots_that_there_is() -> None:
    task = make.task()
    measured.run(task, system="T5", shots=10, split=1)
    board = place_all(task.benchmark, sees_gold=True)
    assert (board.rule.sorted_by, board.rule.shots) == (10, CLUES.shots)
    assert [ranking.mean is None for ranking in board.by_task[0].rankings][:1] == [False]
