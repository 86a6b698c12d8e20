"""How far the annotators of a study agree, and what they answer together."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isnan, nan

from scoring.comparison.agreement import Accord
from scoring.core.agreement import Agreement
from scoring.report.facts import Facts
from scoring.report.measures import INTERVAL
from scoring.report.results import CellFacts
from scoring.report.section import Section, paragraph
from scoring.report.words import capital, listed
from scoring.tables.table import Column, Table, Value, lines_of, rounded


@dataclass(frozen=True)
class Figure:
    """One figure of one cell, as texts beside its value; NaN where it is not defined."""

    place: str
    value: float
    text: str
    limits: str = ""


def agreement(facts: Facts) -> Section:
    """Empty if it has not been computed yet, or nobody could agree."""
    told = _told(facts)
    if not told:
        return Section("Agreement", ())
    alphas = [figure for cell in told for figure in (_masi(cell), _empty(cell))]
    lines = [
        "Agreement between the annotators of a cell is given by Krippendorff's alpha with the MASI "
        "distance (Passonneau 2006; two empty answers do not differ), by the mean S1 of pairs of "
        "annotators, and by nominal alpha of empty against non-empty answers, each with a 95 % "
        "percentile bootstrap interval over contexts.",
        in_words(facts),
        "An alpha is undefined where no two answers differ in what it compares."
        if any(isnan(alpha.value) for alpha in alphas)
        else "",
        "The consensus is what more than half of those who answered an item chose; it is scored "
        "like any answer and does not enter the mean annotator's figure.",
    ]
    return Section("Agreement", paragraph(lines), _table(told))


def in_words(facts: Facts) -> str:
    """The figures of one cell, or the least and the most of several; empty where there are none."""
    told = _told(facts)
    parts = [_part(words, [figure(cell) for cell in told]) for words, figure in FIGURES.items()]
    return f"{capital(listed(filter(None, parts)))}." if told else ""


def _told(facts: Facts) -> list[CellFacts]:
    return [cell for cell in facts.results.cells if cell.accord]


def _part(words: str, figures: Sequence[Figure]) -> str:
    known = sorted((f for f in figures if not isnan(f.value)), key=lambda f: f.value)
    if not known:
        return ""
    least, most = known[0], known[-1]
    if len(known) == 1:
        about = [least.limits, least.place if len(figures) > 1 else ""]
        inside = "; ".join(filter(None, about))
        return f"{words} was {least.text}" + (f" ({inside})" if inside else "")
    if least.text == most.text:
        return f"{words} was {least.text} in each of {len(known)} cells"
    return f"{words} lay between {least.text} ({least.place}) and {most.text} ({most.place})"


def _masi(cell: CellFacts) -> Figure:
    return _figure(cell, _accord(cell).masi, "{:.2f}".format)


def _pairwise(cell: CellFacts) -> Figure:
    return _figure(cell, _accord(cell).pairwise_s1, lambda score: f"{100 * score:.1f}")


def _empty(cell: CellFacts) -> Figure:
    return _figure(cell, _accord(cell).empty, "{:.2f}".format)


def _consensus(cell: CellFacts) -> Figure:
    mean = _accord(cell).consensus.mean
    return Figure(cell.name, nan if mean is None else mean, rounded(mean) or "–")


# By their names in a sentence.
FIGURES: dict[str, Callable[[CellFacts], Figure]] = {
    "alpha with MASI": _masi,
    "the mean S1 of pairs": _pairwise,
    "alpha of empty against non-empty": _empty,
    "the S1 of the consensus": _consensus,
}


def _figure(cell: CellFacts, agreement: Agreement, write: Callable[[float], str]) -> Figure:
    return Figure(
        cell.name,
        agreement.value,
        "–" if isnan(agreement.value) else write(agreement.value),
        "–" if isnan(agreement.low) else f"{write(agreement.low)} to {write(agreement.high)}",
    )


def _accord(cell: CellFacts) -> Accord:
    if cell.accord is None:
        raise ValueError(f"The agreement of {cell.name} has not been computed.")
    return cell.accord


# In the table with their intervals.
WITH_INTERVAL = {"masi": _masi, "pairwise": _pairwise, "empty": _empty}


def _table(told: Sequence[CellFacts]) -> Table:
    return Table(
        "agreement",
        "Agreement: alpha with MASI, mean S1 of pairs of annotators in percent, alpha of empty "
        "against non-empty answers, and the S1 of the consensus in percent.",
        "",
        (
            Column("task", "Task", is_number=False, is_name=True),
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
        lines_of(map(_record, told)),
        is_short=True,
    )


def _record(cell: CellFacts) -> dict[str, Value]:
    figures = {key: figure(cell) for key, figure in WITH_INTERVAL.items()}
    return {
        "task": cell.row.task,
        "shots": cell.row.shots,
        "n": cell.row.n,
        **{key: figure.text for key, figure in figures.items()},
        **{f"{key}_limits": figure.limits for key, figure in figures.items()},
        "consensus": _consensus(cell).text,
    }
