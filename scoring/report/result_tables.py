"""The tables of a report: what a study measured, its tests, and how far its people agree."""

from scoring.analysis.uncertainty import Record
from scoring.contrasts.averages import Average
from scoring.contrasts.difference import Difference, Sort, name_of
from scoring.contrasts.outcomes import verdict_in_words
from scoring.core.verdicts import TOO_FEW
from scoring.report.results import AVERAGE, CellFacts, Results, in_pool
from scoring.report.words import INTERVAL, TASK, from_to
from scoring.tables.table import (
    SECTION,
    Column,
    Line,
    Table,
    Value,
    lines_of,
    p_column,
    values_of,
    words,
)


def results_table(results: Results) -> Table:
    average = " The average is over all tasks, its interval from their SEs and degrees of freedom."
    title = (
        "Cells: mean S1 in percent and SD over n annotators, 95 % interval for new items over m "
        "item clusters, and the no-skill baseline."
    )
    return Table(
        "cells",
        title + (average if results.averages else ""),
        "",
        (
            TASK,
            Column("shots", "Shots"),
            Column("n", "n"),
            Column("m", "m"),
            Column("mean", "Mean", digits=1),
            Column("sd", "SD", digits=1),
            Column("interval", INTERVAL),
            Column("no_skill", "No skill", digits=1),
        ),
        (*lines_of(map(_cell_record, results.cells)), *map(_average_line, results.averages)),
        is_short=True,
    )


def _cell_record(cell: CellFacts) -> dict[str, Value]:
    row = cell.row
    return {
        **{name: getattr(row, name) for name in ("task", "n", "m", "mean", "sd")},
        "shots": row.after_checks or row.shots,
        "interval": from_to(row.ci_low, row.ci_high),
        "no_skill": cell.no_skill,
    }


def _average_line(average: Average) -> Line:
    figures = {"shots": average.shots, "mean": average.mean, "interval": from_to(*average.limits)}
    return Line({"task": in_pool(AVERAGE, average), **figures}, kind=AVERAGE)


def tests_table(results: Results) -> Table:
    fewer = " (or fewer shots)" if results.changes else ""
    is_left_out = any(test.left_out for tests in results.claims.values() for test in tests)
    left_out = "; left out are items that one side did not answer" if is_left_out else ""
    table = Table(
        "tests",
        f"Differences in points of S1, people minus system{fewer}, for new items over m "
        f"item clusters{left_out}.",
        "",
        OF_TESTS,
        tuple(
            line
            for name, tests in results.claims.items()
            for line in (
                Line({"task": name}, kind=SECTION),
                *(Line(_test_record(test), kind=name) for test in tests),
            )
        ),
        is_short=True,
    )
    return table.without_empty_texts().without(set() if is_left_out else {"left_out"})


OF_TESTS = (
    TASK,
    words("shots", "Shots"),
    words("against", "Against"),
    Column("difference", "Difference", digits=1),
    Column("interval", INTERVAL),
    p_column("p", "p"),
    p_column("p_holm", "p, Holm"),
    words("verdict", "Verdict"),
    words("reasons", "Why not sure"),
    words("disputed", "Disputed items"),
    *(Column("n", "n"), Column("runs", "Runs"), Column("m", "m")),
    Column("left_out", "Left out"),
)


def _test_record(test: Difference) -> dict[str, Value]:
    return {
        **values_of(OF_TESTS, test),
        "task": in_pool(AVERAGE, test) if test.task == AVERAGE else test.task,
        "against": f"{test.other_shots} shots" if test.sort == Sort.SHOTS else name_of(test),
        "interval": from_to(test.low, test.high),
        # Of so few people nothing is said but the difference.
        "p": None if test.outcome == TOO_FEW else test.p,
        "verdict": verdict_in_words(test),
        "reasons": "; ".join(test.reasons),
    }


def agreement_table(results: Results) -> Table:
    records = [_agreement_record(cell) for cell in results.agreeing]
    lacks = any(None in (record["masi"], record["nominal"]) for record in records)
    undefined = " (no alpha where no two answers differ)" if lacks else ""
    return Table(
        "agreement",
        f"Agreement of annotators{undefined}; S1 in percent.",
        "",
        (
            TASK,
            Column("shots", "Shots"),
            Column("n", "n"),
            Column("masi", "Alpha, MASI"),
            Column("masi_limits", INTERVAL),
            Column("pairwise", "S1 of pairs"),
            Column("pairwise_limits", INTERVAL),
            Column("nominal", "Alpha, nominal"),
            Column("nominal_limits", INTERVAL),
            Column("consensus", "Consensus", digits=1),
        ),
        lines_of(records),
        is_short=True,
    )


def _agreement_record(cell: CellFacts) -> dict[str, Value]:
    assert cell.agreement is not None, "it has been computed"
    return {
        **{name: getattr(cell.row, name) for name in ("task", "n")},
        "shots": cell.row.after_checks or cell.row.shots,
        **_limited(cell.agreement, "masi", "masi"),
        **_limited(cell.agreement, "pairwise", "pairwise_s1", factor=100, digits=1),
        **_limited(cell.agreement, "nominal", "nominal"),
        "consensus": cell.consensus,
    }


def _limited(
    agreement: Record, key: str, name: str, *, factor: int = 1, digits: int = 2
) -> dict[str, Value]:
    """A figure of agreement and its interval, None where it is not defined."""
    texts = [
        None
        if agreement[f"{name}{end}"] is None
        else f"{factor * agreement[name + end]:.{digits}f}"
        for end in ("", "_low", "_high")
    ]
    value, low, high = texts
    return {key: value, f"{key}_limits": low and f"{low} to {high}"}
