"""What a comparison is said to have found; each number recomputed from the rows and the tests."""

import re
from dataclasses import replace
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.utils.html import strip_tags

from annotation.models import Study
from annotation.studies.lifecycle import close_study
from scoring.cells.rows import Bound, Row, RowKind
from scoring.cells.scope import NOT_CLOSED, Scope
from scoring.comparison.answer import UNCLAIMED, Answer, _headline, answers
from scoring.comparison.comparing import compare
from scoring.comparison.comparison import Comparison
from scoring.comparison.documents import main_table, overview
from scoring.contrasts.averages import averages
from scoring.contrasts.difference import Difference
from scoring.contrasts.outcomes import LEGEND, STATES, by_chance, sign_of
from scoring.tables.documents import as_markdown
from tests import make
from tests.scoring.comparison import measured

HUMAN = Row(RowKind.HUMAN, study="pilot", system="Human", task="sst2", shots=30, mean=91.24, sd=1.0,
            n=6, m=60, items=60, ci_low=88.01, ci_high=93.88, references="any", coverage=1.0,
            matched=True)  # fmt: skip
RUN = Row(RowKind.RUN, system="BERT", method="FT", task="sst2", shots=30, mean=85.9, sd=2.0, n=5,
          m=60, references="any", coverage=1.0, matched=True)  # fmt: skip
FOUND = Difference(
    study="pilot", simulated=False, shots=30, system="BERT", method="FT", outcome="ahead",
    certainty="sure", margin=0.0, difference=5.34, low=1.14, high=9.54, se=2.0, p=0.01,
    p_holm=0.02, family=2, in_family=True, task="sst2", above=5, n=6, runs=5, other_mean=85.9,
)  # fmt: skip


def table(*tests: Difference, people: Row = HUMAN, **fields: Any) -> Comparison:
    tasks = dict.fromkeys(test.task or "" for test in tests)
    rows = [replace(people, task=task) for task in tasks]
    rows += [replace(RUN, task=test.task or "", system=test.system) for test in tests]
    return Comparison(tuple(rows), tests=tests, benchmark="clues", study="pilot", **fields)


def told(*tests: Difference, **fields: Any) -> Answer:
    [answer] = answers(table(*tests, **fields), "30")
    return answer


@pytest.mark.parametrize(
    ("state", "sentence"),
    [
        (("ahead", "sure"), "People beat BERT FT."),
        (("ahead", "probable"), "People probably beat BERT FT."),
        (("behind", "sure"), "BERT FT beats people."),
        (("behind", "probable"), "BERT FT probably beats people."),
        (("same", "sure"), "People and BERT FT are equally good within 2 points."),
        (("same", "probable"), "People and BERT FT are probably equally good within 2 points."),
        (("open", None), "People and BERT FT are too close to call: either may be ahead."),
    ],
)
def test_says_each_state_in_a_sentence(state: tuple[str, str | None], sentence: str) -> None:
    low = -1.0 if state[0] == "open" else 1.0
    found = replace(FOUND, outcome=state[0], certainty=state[1], margin=2.0, low=low)
    assert told(found).headline == [sentence]
    line = overview(table(found), "30").lines[1]
    assert STATES[state][0] in {cell.sign for cell in line.cells.values() if hasattr(cell, "sign")}


def test_every_sign_is_explained() -> None:
    assert {sign for sign, *_ in STATES.values() if sign} == set(LEGEND)


def test_names_systems_of_one_state_together() -> None:
    found = [replace(FOUND, system=name) for name in "ABC"]
    last = replace(FOUND, system="D", outcome="open", certainty=None, low=-1.0)
    assert told(*found, last).headline == [
        "People beat A FT, B FT and C FT.",
        "People and D FT are too close to call: either may be ahead.",
    ]
    several = [replace(last, system=name) for name in "DE"]
    assert told(*several).headline == ["Too close to call: people and each of D FT and E FT."]
    same = [replace(one, outcome="same", certainty="sure", margin=2.0) for one in several]
    assert told(*same).headline == [
        "People and each of D FT and E FT are equally good within 2 points."
    ]


def test_claims_nothing_of_too_few_people() -> None:
    few = replace(FOUND, outcome="too_few", certainty=None, n=3)
    answer = told(few, people=replace(HUMAN, n=3))
    assert answer.headline == ["Too few people to say who wins (3; 5 are needed)."]
    assert answer.so_far == "People are 5 points above BERT FT (1 to 10)."
    one_task = replace(FOUND, task="a", outcome="open", certainty=None, low=-1.0)
    few_over_all = [replace(few, task=None, tasks=("a", "b")), one_task, replace(few, task="b")]
    whole = told(*few_over_all, people=replace(HUMAN, n=3))
    assert whole.headline == ["Too few people to say who wins (3 a task; 5 are needed)."]
    below = told(replace(few, difference=-1.0, low=-7.2, high=4.1), people=replace(HUMAN, n=3))
    assert below.so_far == "People are 1 point below BERT FT (7 below to 4 above)."


@pytest.mark.parametrize(
    ("runs", "name"), [(1, "BERT FT (1 run)"), (4, "BERT FT (4 runs)"), (5, "BERT FT")]
)
def test_says_how_few_runs_a_system_has(runs: int, name: str) -> None:
    answer = told(replace(FOUND, runs=runs))
    assert answer.headline == [f"People beat {name}."]
    [[line]] = answer.forest.values()
    assert line.aside.startswith(name[9:-1])


def test_says_beside_a_score_what_no_skill_earns_and_that_the_answers_show_none() -> None:
    given = table(
        FOUND,
        replace(FOUND, task="b"),
        bounds=(Bound("b", "one_label", 67.2, "any", 1, is_floor=True),),
    )
    rows = tuple(replace(row, shows_no_skill=row.task == "b") for row in given.rows)
    [answer] = answers(replace(given, rows=rows), "30")
    [[line]] = answer.forest.values()
    assert "nearly constant or unreadable answers on 1 of 2 tasks" in line.aside
    of_first, of_second = (task.aside for task in line.tasks)
    assert "no skill 67; nearly constant or unreadable answers" in of_second
    assert "no skill" not in of_first
    assert "alike" not in of_first


def test_says_once_that_all_systems_of_a_state_have_as_few_runs() -> None:
    found = [replace(FOUND, system=name, runs=1) for name in "AB"]
    assert told(*found).headline == ["People beat A FT and B FT (1 run each)."]
    more = [found[0], replace(found[1], runs=2)]
    assert told(*more).headline == ["People beat A FT (1 run) and B FT (2 runs)."]


def test_says_over_several_tasks_what_is_of_the_average_and_how_many_runs_each_has() -> None:
    average = replace(FOUND, task=None, se=1.0, runs=1)
    tasks = [replace(FOUND, task="a", runs=1), replace(FOUND, task="b", runs=2)]
    people = [replace(HUMAN, task=task) for task in "ab"]
    groups = [[average, *tasks], [average, tasks[0], replace(tasks[1], outcome="open")]]
    found = [_headline([those], those, people) for those in groups]
    assert found == [
        ["People beat BERT FT (1 to 2 runs)."],
        ["People beat BERT FT (1 to 2 runs) on average."],
    ]


def test_leaves_later_systems_and_other_shot_sets_out_of_the_headline() -> None:
    later = replace(FOUND, system="New", supplement="2026-11-23")
    other = replace(FOUND, system="Else", exploratory=True, reasons=("other shot sets",))
    answer = told(FOUND, later, other)
    assert answer.headline == ["People beat BERT FT."]
    assert [[line.name for line in lines] for lines in answer.forest.values()] == [
        ["BERT FT"],
        ["New FT"],
        ["Else FT"],
    ]


@pytest.mark.django_db
def test_shows_a_system_on_other_shot_sets_once() -> None:
    """Its runs from before the closing, not those with the later ones too."""
    batch = measured.cell([3, 4, 5], tests=7)
    measured.run(batch.task, split=2, wrong=1, at=make.NOON)
    close_study(batch.study, at=make.NOON)
    measured.run(batch.task, split=3, wrong=2, at=make.NOON + timedelta(days=3))
    found = compare(Scope(batch.study.benchmark, batch.study))
    assert [test.supplement for test in found.tests] == [None, "2026-11-04"]
    assert [row.n for row in found.rows if row.kind == RowKind.RUN] == [1, 2]
    [line] = [line for line in overview(found, "3").lines if line.kind == "other"]
    assert as_markdown([overview(found, "3")]).count("BERT-Base") == 1
    assert "1 run" in str(line.cells["who"])
    [answer] = answers(found, "3")
    [[shown]] = answer.forest.values()
    assert shown.aside == "1 run; m = 7"


def test_shows_each_task_of_a_system_on_other_shot_sets_once() -> None:
    tests = [replace(FOUND, task=task, exploratory=True) for task in "ab"]
    later = [replace(test, supplement="2026-11-23") for test in tests]
    [[line]] = told(*tests, *later).forest.values()
    assert [task.name for task in line.tasks] == ["a", "b"]


def test_says_of_tasks_without_an_average_on_how_many() -> None:
    tasks = [replace(FOUND, task=task) for task in "ab"]
    last = replace(FOUND, task="c", outcome="open", certainty=None)
    assert told(*tasks, last).headline == ["People beat BERT FT on 2 of 3 tasks; 1 is open."]
    few = replace(last, outcome="too_few")
    [sentence] = told(*tasks, few).headline
    assert sentence == "People beat BERT FT on 2 of 3 tasks; 1 has too few people."


def test_claims_of_a_system_with_one_of_the_tasks_that_one_alone() -> None:
    tasks = [replace(FOUND, task=task) for task in "ab"]
    alone = replace(FOUND, system="One", task="a")
    assert told(*tasks, alone).headline == [
        "People beat BERT FT on both tasks.",
        "People beat One FT on the 1 task that it ran on.",
    ]


def test_says_that_an_open_difference_may_be_within_the_margin() -> None:
    found = replace(FOUND, outcome="open", certainty=None, margin=5.0, runs=5)
    [[line]] = told(found).forest.values()
    assert line.aside == "may be within 5 points"
    ahead, behind = "People seem ahead of BERT FT", "BERT FT seems ahead of people"
    assert told(found).headline == [f"{ahead}, maybe by less than 5 points."]
    other = replace(found, difference=-6.0, low=-9.0, high=-2.0)
    assert told(other).headline == [f"{behind}, maybe by less than 5 points."]
    [[line]] = told(replace(found, low=-1.0)).forest.values()
    assert line.aside == ""


def test_says_why_something_is_not_sure() -> None:
    why = "falls without one annotator"
    answer = told(replace(FOUND, certainty="probable", reasons=(why,), fragile=True))
    assert f"BERT FT is not sure: {why}." in answer.why
    assert any("over 2 comparisons" in condition for condition in answer.sure)


def test_says_when_verdicts_are_shown() -> None:
    [answer] = answers(replace(table(FOUND), tests=(), interim={"pilot": NOT_CLOSED}), "30")
    assert (answer.headline, answer.footing) == ([], UNCLAIMED)
    assert told(FOUND).footing.startswith("Compared with the 1 system")


def test_says_of_no_open_study_that_it_closed() -> None:
    """Simulated people are compared before that, too."""
    people = replace(HUMAN, kind=RowKind.SIMULATED)
    found = replace(FOUND, simulated=True)
    for interim, systems in (
        ({}, "had run every task when it closed"),
        ({"pilot": NOT_CLOSED}, "have run"),
    ):
        [answer] = answers(table(found, people=people, interim=interim), "30")
        assert f"Compared with the 1 system that {systems}" in answer.footing


def test_says_simulated_people_in_capitals_everywhere() -> None:
    people = replace(HUMAN, kind=RowKind.SIMULATED)
    answer = told(replace(FOUND, simulated=True), people=people)
    assert answer.headline == ["SIMULATED PEOPLE beat BERT FT."]
    assert "SIMULATED PEOPLE" in answer.people


def test_leaves_out_a_method_that_says_nothing() -> None:
    assert told(replace(FOUND, method="other")).headline == ["People beat BERT."]


def test_the_average_is_marked_beside_real_people_like_its_cells() -> None:
    simulated = replace(FOUND, study="other", simulated=True, outcome="behind")
    both = table(*(replace(one, task=task) for task in "ab" for one in (simulated, FOUND)))
    over = tuple(replace(one, task=None, n=None) for one in (simulated, FOUND))
    rows = [row for row in both.rows if row.kind == RowKind.RUN][::2]
    found = replace(both, average_tests=over, averages=tuple(averages(rows, ["a", "b"])))
    shown = overview(found, "30")
    line = shown.lines[1]
    assert {line.cell(column).sign for column in shown.columns[1:]} == {sign_of(FOUND)}


def study(people: int) -> Study:
    batch = make.running_batch(wanted=people, tests=60, training=3)
    for number in range(people):
        make.worked_through(batch, wrong=3 + number % 2)
    measured.run(batch.task, wrong=40, at=make.NOON)
    return batch.study


def text_of(client: Client, study: Study) -> str:
    page = client.get(f"/studies/{study.slug}/comparison/").content.decode()
    return " ".join(unescape(strip_tags(page)).split())


@pytest.mark.django_db
def test_is_true_of_the_rows_below(admin_client: Client) -> None:
    made = study(5)
    found = compare(Scope(made.benchmark, make.closed(made)))
    people, system = (next(r for r in found.rows if r.kind == kind) for kind in ("human", "run"))
    assert people.mean is not None
    assert system.mean is not None
    text = text_of(admin_client, made)
    assert "People probably beat BERT-Base FT (1 run)." in text
    limits = f"{people.ci_low:.0f} to {people.ci_high:.0f}"
    assert f"People {people.mean:.0f} of 100 (likely {limits}): 5 people, 60 questions." in text
    assert f"+{people.mean - system.mean:.0f} (" in text
    assert "People probably beat BERT-Base FT (1 run)." in str(main_table(found))


@pytest.mark.django_db
@pytest.mark.parametrize("people", [3, 5])
def test_whoever_may_not_see_the_gold_is_told_no_difference(client: Client, people: int) -> None:
    made = study(people)
    close_study(made, at=make.NOON)
    client.force_login(make.member(made, "viewer"))
    text = text_of(client, made)
    assert "BERT-Base FT 33" in text
    for verdict in (*LEGEND, "BEAT", "too close", "people minus system", "p, Holm", "probable"):
        assert not re.search(rf"{re.escape(verdict)}(?! better)", text), verdict


def test_says_what_a_probable_verdict_is_worth() -> None:
    why = " ".join(told(replace(FOUND, certainty="probable")).why)
    assert f"That is without adjustment: {by_chance(1)}." in why
    nowhere = "if there were no difference anywhere, about"
    assert by_chance(1) == f"{nowhere} one of 20 such comparisons would come out so by chance"
    assert by_chance(60) == f"{nowhere} 3 of 60 such comparisons would come out so by chance"


def test_shows_the_verdicts_of_pools_that_differ_and_whose_they_are() -> None:
    crowd = replace(FOUND, pool="Crowd")
    experts = replace(FOUND, pool="Experts", certainty="probable")

    def shown(*tests: Difference) -> Any:
        made = overview(table(*tests), "30")
        cells = [c for line in made.lines for c in line.cells.values() if getattr(c, "sign", "")]
        return cells[0], made.notes

    cell, notes = shown(experts, crowd)
    assert cell.sign == "▲△"
    assert cell.in_words == "Crowd: people ahead, sure; Experts: people ahead, probable"
    assert notes["▲△"] == "of Crowd, then of Experts"
    assert notes["△"] == "people ahead, probable"
    assert shown(crowd, replace(experts, certainty="sure"))[0].sign == "▲"
    few = replace(experts, outcome="too_few", certainty=None, p=None)
    assert shown(crowd, few)[0].sign == "▲–"


def test_says_which_beaten_systems_do_not_clearly_show_skill() -> None:
    floor = (Bound("sst2", "one_label", 80.0, "any", 1, is_floor=True),)

    def said(low: float, outcome: str = "ahead") -> str:
        given = table(replace(FOUND, outcome=outcome), bounds=floor)
        rows = tuple(
            replace(row, ci_low=low) if row.kind == RowKind.RUN else row for row in given.rows
        )
        [answer] = answers(replace(given, rows=rows), "30")
        return answer.unskilled

    assert said(79.0) == "BERT FT does not score clearly above no skill."
    assert said(81.0) == ""
    assert said(79.0, "behind") == ""


def test_says_of_a_supplement_when_it_was_added_and_not_twice_what_it_is() -> None:
    tests = [
        replace(
            FOUND,
            task=task,
            certainty="probable",
            reasons=("a supplement",),
            supplement="2026-11-23",
        )
        for task in "abc"
    ]
    [heading] = told(*tests).forest
    assert heading.endswith("All: added 2026-11-23")


def test_says_once_what_stands_beside_every_line() -> None:
    few, other = ("fewer than eight people",), ("a supplement",)
    tests = [
        replace(FOUND, task=task, certainty="probable", reasons=few + other * (task == "c"))
        for task in "abc"
    ]
    [(heading, [line])] = told(*tests).forest.items()
    assert heading == "All: fewer than eight people"
    assert [task.aside for task in line.tasks] == ["", "", "a supplement"]
