"""The tables of a report, and how far its annotators agree in a sentence."""

from collections.abc import Sequence

from scoring.analysis.uncertainty import Record
from scoring.core.verdicts import AHEAD, BEHIND, EXPLORATORY, SAME, UNDECIDED
from scoring.models import Method
from scoring.report.results import CellFacts, Results
from scoring.report.words import from_to, listed
from scoring.tables.table import Column, Table, Value, lines_of, p_column, rounded
from scoring.tests.differences import Difference

# Other ways of adapting a system have no short name.
SHORT_METHODS = (Method.FT, Method.PT, Method.ICL)
INTERVAL = "95 % interval"
# A change between shots has none.
VERDICTS = {
    AHEAD: "ahead",
    BEHIND: "behind",
    SAME: "as good",
    UNDECIDED: "not told apart",
    EXPLORATORY: "exploratory",
}
TASK = Column("task", "Task", is_number=False, is_name=True)
# A figure of one cell, None where it is not defined, with its text and that of its limits.
Figure = tuple[float | None, str, str]
# The figures of agreement by their names in a sentence.
FIGURES = {
    "masi": "alpha with MASI",
    "pairwise": "the mean S1 of pairs",
    "empty": "alpha of empty against non-empty",
    "consensus": "the S1 of the consensus",
}


def results_table(results: Results) -> Table:
    has_guard = any(cell.row.guard_low is not None for cell in results.cells)
    guard = "; beside it, for fewer than five annotators, the band with n – 1 degrees of freedom"
    table = Table(
        "cells",
        "Cells: mean S1 in percent, SD over n annotators, 95 % interval for new items over m item "
        f"clusters{guard if has_guard else ''}, and what no skill earns.",
        "",
        (
            TASK,
            Column("shots", "Shots"),
            Column("n", "n"),
            Column("m", "m"),
            Column("mean", "Mean", digits=1),
            Column("sd", "SD", digits=1),
            Column("interval", INTERVAL),
            Column("guard", "Guard band"),
            Column("no_skill", "No skill", digits=1),
        ),
        lines_of(map(_cell_record, results.cells)),
        is_short=True,
    )
    return table if has_guard else table.without({"guard"})


def _cell_record(cell: CellFacts) -> dict[str, Value]:
    row = cell.row
    return {
        **{name: getattr(row, name) for name in ("task", "shots", "n", "m", "mean", "sd")},
        "interval": from_to(row.ci_low, row.ci_high),
        "guard": from_to(row.guard_low, row.guard_high),
        "no_skill": cell.no_skill,
    }


def tests_table(results: Results) -> Table:
    return Table(
        "tests",
        "Differences in points of S1, people less system, and more shots less fewer, for new "
        "items, over m item clusters that both sides answered; left out are items that one side "
        "did not answer. Of fewer than five annotators a test is exploratory.",
        "",
        (
            TASK,
            Column("shots", "Shots", is_number=False),
            Column("against", "Against", is_number=False),
            Column("difference", "Difference", digits=1),
            Column("interval", INTERVAL),
            p_column("p", "p"),
            p_column("p_holm", "p, Holm"),
            Column("verdict", "People are", is_number=False),
            Column("n", "n"),
            Column("r", "r"),
            Column("m", "m"),
            Column("left_out", "Left out"),
        ),
        lines_of(map(_test_record, (*results.tests, *results.changes))),
        is_short=True,
    )


def _test_record(test: Difference) -> dict[str, Value]:
    method = test.method if test.method in SHORT_METHODS else ""
    against = f"{test.system} {method}" if test.method else f"{test.other_shots} shots"
    return {
        "task": test.task,
        "shots": test.shots,
        "against": against.strip(),
        "difference": test.difference,
        "interval": from_to(test.low, test.high),
        "p": test.p if test.p_direction is None else test.p_direction,
        "p_holm": test.p_holm,
        "verdict": VERDICTS.get(test.outcome),
        **{name: getattr(test, name) for name in ("n", "r", "m", "left_out")},
    }


def agreement_table(results: Results) -> Table:
    return Table(
        "agreement",
        "Agreement: alpha with MASI, mean S1 of pairs of annotators in percent, alpha of empty "
        "against non-empty answers, and the S1 of the consensus in percent.",
        "",
        (
            TASK,
            Column("shots", "Shots"),
            Column("n", "n"),
            Column("masi", "Alpha, MASI"),
            Column("masi_limits", INTERVAL),
            Column("pairwise", "S1 of pairs"),
            Column("pairwise_limits", INTERVAL),
            Column("empty", "Alpha, empty"),
            Column("empty_limits", INTERVAL),
            Column("consensus", "Consensus"),
        ),
        lines_of(map(_agreement_record, results.agreeing)),
        is_short=True,
    )


def _agreement_record(cell: CellFacts) -> dict[str, Value]:
    told = figures(cell)
    return {
        **{name: getattr(cell.row, name) for name in ("task", "shots", "n")},
        **{name: text for name, (_value, text, _limits) in told.items()},
        **{f"{name}_limits": limits for name, (_, _, limits) in told.items()},
    }


def agreement_in_words(results: Results) -> str:
    """The figures of one cell, or the least and the most of several; empty where there are none."""
    cells = [(cell.name, figures(cell)) for cell in results.agreeing]
    parts = (
        _part(words, [(place, told[name]) for place, told in cells])
        for name, words in FIGURES.items()
    )
    text = listed(filter(None, parts))
    return f"{text[:1].upper()}{text[1:]}." if cells else ""


def _part(words: str, told: Sequence[tuple[str, Figure]]) -> str:
    known = [one for one in told if one[1][0] is not None]
    known.sort(key=lambda one: one[1][0] or 0.0)
    if not known:
        return ""
    (least_place, (_, least, limits)), (most_place, (_, most, _)) = known[0], known[-1]
    if len(known) == 1:
        inside = "; ".join(filter(None, [limits, least_place if len(told) > 1 else ""]))
        return f"{words} was {least}" + (f" ({inside})" if inside else "")
    if least == most:
        return f"{words} was {least} in each of {len(known)} cells"
    return f"{words} lay between {least} ({least_place}) and {most} ({most_place})"


def figures(cell: CellFacts) -> dict[str, Figure]:
    """How far the annotators of a cell agree, and what they answer together."""
    assert cell.agreement is not None, "it has been computed"
    mean = cell.consensus
    return {
        "masi": _figure(cell.agreement, "masi"),
        "pairwise": _figure(cell.agreement, "pairwise_s1", in_percent=True),
        "empty": _figure(cell.agreement, "empty"),
        "consensus": (mean, rounded(mean) or "–", ""),
    }


def _figure(agreement: Record, name: str, *, in_percent: bool = False) -> Figure:
    def text(value: float | None) -> str:
        if value is None:
            return "–"
        return f"{100 * value:.1f}" if in_percent else f"{value:.2f}"

    value, low, high = (agreement[f"{name}{end}"] for end in ("", "_low", "_high"))
    limits = "–" if low is None else f"{text(low)} to {text(high)}"
    return value, text(value), limits
