import re
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.figure import Figure

from scoring.cells.rows import Bound, Row, RowKind
from scoring.figures.canvas import inline_svg, rendered
from scoring.figures.drawing import Record, curves_figure, differences_figure, shots_figure

HUMAN = Row(RowKind.HUMAN, study="pilot", system="Human", task="sst2", shots=10, mean=80.0, sd=1.0,
            n=5,
            ci_low=75.0, ci_high=86.0, references="any", coverage=1.0)  # fmt: skip
RUN = Row(RowKind.RUN, system="BERT <b>", method="FT", task="sst2", shots=10, mean=50.0, n=5,
          references="any")  # fmt: skip
ROWS = [
    HUMAN,
    replace(HUMAN, shots=30, mean=85.0, ci_low=80.0, ci_high=90.0),
    replace(HUMAN, kind=RowKind.ANNOTATOR, system="BCDF", single=True),
    RUN,
    replace(RUN, shots=30, mean=60.0),
    replace(RUN, task="mnli", method="PT"),
    Row(RowKind.REPORTED, system="Human", task="mnli", shots=10, mean=78.1, source="CLUES Table 5"),
    Row(RowKind.REPORTED, system="GPT-3", method="ICL", task="mnli", shots="all", mean=90.0),
]


def test_draws_a_panel_for_each_task_with_people_and_systems() -> None:
    figure = shots_figure(ROWS)
    assert [panel.get_title() for panel in figure.axes] == ["mnli", "sst2"]
    [line] = [line for line in figure.axes[1].lines if line.get_label() == "BERT <b>, FT"]
    assert np.asarray(line.get_xydata()).tolist() == [[10, 50], [30, 60]]


def test_draws_the_interval_of_people() -> None:
    bars: Any
    [bars] = shots_figure(ROWS).axes[1].containers
    ends = [segment[:, 1].tolist() for segment in bars.lines[2][0].get_segments()]
    assert ends == [[75, 86], [80, 90]]


def test_draws_the_interval_of_a_system_that_has_one_beside_that_of_people() -> None:
    rows = [HUMAN, replace(RUN, ci_low=40.0, ci_high=60.0), replace(RUN, shots=30)]
    thin: Any
    [thin] = [bars for bars in shots_figure(rows).axes[0].collections if len(bars.get_paths()) == 1
              and np.less(bars.get_linewidth(), 1).all()]  # fmt: skip
    [[(left, low), (right, high)]] = [path.vertices.tolist() for path in thin.get_paths()]
    assert (low, high) == (40, 60)
    assert 6 < left == right < 10
    people: Any
    [people] = shots_figure(rows).axes[0].containers
    assert people.lines[0].get_xdata().tolist() == [10]


def test_draws_each_pool_as_a_line_of_its_own_and_one_person_as_such() -> None:
    pools = [replace(HUMAN, pool="Crowd", n=3), replace(HUMAN, pool="Crowd", shots=30, n=1)]
    rows = [*pools, replace(HUMAN, pool="Experts", n=1, ci_low=None, ci_high=None)]
    people: Any = shots_figure(rows).axes[0].containers
    named = {bars.get_label(): bars.lines[0] for bars in people}
    assert list(named) == ["Human, Crowd", "Human, Experts, one person"]
    crowd, experts = named.values()
    assert (crowd.get_marker(), experts.get_marker()) == ("o", "x")
    assert len(crowd.get_xdata()) == 2


def test_marks_a_pool_in_every_panel_as_the_legend_does() -> None:
    pools = [replace(HUMAN, pool=name, n=3) for name in ("Crowd", "Experts")]
    figure: Any = shots_figure([*pools, replace(pools[1], task="mnli")])
    experts = [
        bars.lines[0].get_marker()
        for panel in figure.axes
        for bars in panel.containers
        if "Experts" in bars.get_label()
    ]
    assert experts == ["D", "D"]
    assert [bars.get_label() for bars in figure.axes[0].containers] == ["Human, Experts"]


def test_stands_marks_without_an_interval_beside_one_another() -> None:
    same = [replace(RUN, system=f"System {number}", mean=50.0) for number in range(3)]
    lines: Any = shots_figure(same).axes[0].lines
    assert len({line.get_xdata()[0] for line in lines}) == 3


def test_stands_marks_on_their_shots_and_says_where_it_does_not() -> None:
    alone = shots_figure(ROWS)
    people: Any
    [people] = alone.axes[1].containers
    assert people.lines[0].get_xdata().tolist() == [10, 30]
    assert not alone.legends[0].get_title().get_text()
    # Where a mark would cover another, all stand side by side.
    covered: Any = shots_figure([*ROWS[:2], replace(RUN, mean=81.0)])
    [people] = covered.axes[0].containers
    [system] = [line for line in covered.axes[0].lines if line.get_label() == "BERT <b>, FT"]
    assert system.get_xdata()[0] != people.lines[0].get_xdata()[0]
    assert "side by side" in covered.legends[0].get_title().get_text()
    several = shots_figure([HUMAN, replace(RUN, ci_low=40.0, ci_high=60.0)])
    assert several.axes[0].get_xlabel() == "shots*"
    assert "side by side" in several.legends[0].get_title().get_text()


def test_tells_systems_apart_without_colour() -> None:
    rows = [replace(RUN, system=f"System {number}") for number in range(9)]
    lines = shots_figure(rows).axes[0].lines
    looks = {(line.get_color(), line.get_marker()) for line in lines}
    assert len(looks) == 9


@pytest.mark.parametrize("form", ["svg", "pdf", "png"])
def test_gives_the_same_bytes_for_the_same_rows(form: str) -> None:
    assert rendered(shots_figure(ROWS), form) == rendered(shots_figure(ROWS), form)


def test_keeps_texts_as_texts_in_the_page() -> None:
    svg = inline_svg(shots_figure(ROWS), 'Score "against" shots')
    texts = "".join(ElementTree.fromstring(svg).itertext())
    assert "BERT <b>, FT" in texts
    assert "Human" in texts


def test_carries_no_style_that_the_page_would_refuse() -> None:
    svg = inline_svg(shots_figure(ROWS), "Score against shots")
    assert not re.search(r"style=|<style|<script|<metadata", svg)
    assert "currentColor" in svg


def test_draws_an_empty_figure_of_no_rows() -> None:
    assert rendered(shots_figure([]), "svg")


LONG = "meta-llama/Meta-Llama-3.1-405B-Instruct-FP8-with-self-consistency-and-retrieval"
TEST: Record = {
    "study": "pilot",
    "simulated": False,
    "pool": None,
    "task": "sst2",
    "shots": 10,
    "system": LONG,
    "method": "ICL",
    "difference": 4.0,
    "low": -3.0,
    "high": 11.0,
    "n": 3,
    "certainty": None,
}
POINT: Record = {"first": 1, "last": 2, "answers": 8, "mean": 50.0, "adjusted": 51.0, "se": 2.0}
CURVE: Record = {
    "study": "pilot",
    "task": "sst2",
    "shots": 10,
    "points": [POINT],
    "by_annotator": {},
}


@pytest.mark.parametrize(
    "figure",
    [
        shots_figure([replace(RUN, system=f"System {number}") for number in range(60)]),
        shots_figure([HUMAN, replace(RUN, system=LONG)]),
        curves_figure([CURVE]),
    ],
    ids=["many", "long", "curve"],
)
def test_holds_the_whole_legend_beside_panels_of_full_height(figure: Figure) -> None:
    rendered(figure, "svg")
    [legend] = figure.legends
    width, _ = figure.get_size_inches() * figure.dpi
    box = legend.get_window_extent()
    assert box.x0 >= 0
    assert box.y0 >= 0
    assert box.x1 <= width
    assert figure.axes[0].get_window_extent().height > 2 * figure.dpi


def test_leaves_room_for_differences_beside_long_names() -> None:
    figure = differences_figure([TEST])
    rendered(figure, "svg")
    assert figure.axes[0].get_window_extent().width > 3 * figure.dpi


def test_draws_figures_under_another_policy_on_axes_of_their_own() -> None:
    published = Row(RowKind.REPORTED, system="BERT <b>", method="FT", task="sst2", shots=10,
                    mean=60.0,
                    references="set", source="a paper")  # fmt: skip
    bound = Bound("sst2", "empty", 5.0, "any", 1, is_floor=True)
    figure = shots_figure([HUMAN, RUN, published], [bound])
    drawn = {panel.get_title(): panel.get_legend_handles_labels()[1] for panel in figure.axes}
    assert drawn == {
        "sst2, any": ["BERT <b>, FT", "no skill", "Human"],
        "sst2, set": ["BERT <b>, FT, published"],
    }


def test_tells_which_figures_were_published_without_a_policy() -> None:
    unknown = Row(RowKind.REPORTED, system="GPT-3", method="ICL", task="sst2", shots=10, mean=60.0,
                  references="unknown")  # fmt: skip
    figure = shots_figure([RUN, unknown])
    assert [panel.get_title() for panel in figure.axes] == ["sst2"]
    [legend] = figure.legends
    assert "GPT-3, ICL, published†" in [text.get_text() for text in legend.get_texts()]
    assert legend.get_title().get_text() == "† published without its reference policy"
    assert not shots_figure([RUN]).legends[0].get_title().get_text()


# By shots, people's mean with its limits; then the systems.
EXTREMES = {
    "nothing but one person": ([replace(HUMAN, ci_low=None, ci_high=None, n=1)], 1),
    "all right": ([replace(HUMAN, mean=100.0, ci_low=96.0, ci_high=99.99999999999997)], 1),
    "all wrong": ([replace(HUMAN, mean=0.0, ci_low=2e-14, ci_high=4.0)], 1),
    "zero shots": ([replace(HUMAN, shots=0)], 1),
    "no people": ([RUN], 1),
    "sixty systems": (
        [HUMAN, *(replace(RUN, system=f"S{k}", ci_low=40.0, ci_high=60.0) for k in range(60))],
        1,
    ),
    # More than one row of panels, the last of them not full.
    "thirteen cells": ([replace(HUMAN, task=f"task-{k}") for k in range(13)], 13),
    "long names": ([replace(HUMAN, task=LONG, study=LONG), replace(RUN, task=LONG)], 1),
}


@pytest.mark.parametrize("name", EXTREMES)
@pytest.mark.parametrize("form", ["svg", "png"])
def test_draws_what_there_is_in_every_extreme(name: str, form: str) -> None:
    rows, panels = EXTREMES[name]
    figure = shots_figure(rows, [Bound("sst2", "empty", 50.0, "any", 1)])
    assert len([panel for panel in figure.axes if panel.get_title()]) == panels
    assert rendered(figure, form)


@pytest.mark.parametrize("form", ["svg", "png"])
@pytest.mark.parametrize(
    "tests",
    [
        [],
        [{**TEST, "difference": None, "low": None, "high": None}],
        [{**TEST, "low": None, "high": None}],
        [{**TEST, "difference": 100.0, "low": 100.0, "high": 100.0}],
        [TEST] * 150,
    ],
    ids=["none", "nothing common", "no test", "as far as possible", "150"],
)
def test_draws_whatever_differences_there_are(tests: list[Record], form: str) -> None:
    assert rendered(differences_figure(tests), form)


def test_fills_the_mark_of_what_is_sure_alone() -> None:
    found = [{**TEST, "certainty": certainty} for certainty in ("sure", "probable", None)]
    lines = differences_figure(found).axes[0].lines
    marks = [line.get_markerfacecolor() for line in lines if line.get_marker() == "o"]
    assert [mark == "none" for mark in marks] == [False, True, True]


def test_reaches_no_further_than_is_possible() -> None:
    near, far = TEST, {**TEST, "difference": -99.0, "low": -100.0, "high": -90.0}
    left, right = differences_figure([near]).axes[0].get_xlim()
    assert (left, right) == (-5, 13)
    assert differences_figure([far]).axes[0].get_xlim() == (-102, 2)


@pytest.mark.parametrize("mean", [None, 0.0, 100.0])
def test_draws_a_curve_of_a_single_point(mean: float | None) -> None:
    point = {**POINT, "last": 1, "mean": mean, "adjusted": None, "se": None}
    figure = curves_figure([{**CURVE, "points": [point], "by_annotator": {"a": [mean]}}])
    assert rendered(figure, "svg")
    assert rendered(curves_figure([]), "svg")


def test_draws_names_that_are_no_formulas_and_no_xml() -> None:
    figure = Figure()
    figure.text(0.5, 0.5, "$\\frac$ <script> & \x07\u202ename")
    svg = rendered(figure, "svg").decode()
    texts = "".join(ElementTree.fromstring(svg).itertext())
    assert "$\\frac$ <script> & name" in texts
