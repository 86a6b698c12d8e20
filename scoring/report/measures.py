"""How a study was scored, how certain its figures are, and what was tested."""

from collections.abc import Iterator

from scoring.comparison.differences import Difference
from scoring.comparison.rows import EPISODE_BOOTSTRAP
from scoring.comparison.to_json import known
from scoring.core.intervals import EXPLORATORY_BELOW
from scoring.models import Method
from scoring.report.facts import Facts
from scoring.report.results import CellFacts, Results
from scoring.report.section import Section, paragraph
from scoring.report.words import counted, day, from_to, listed
from scoring.tables.table import Column, Table, Value, lines_of, p_column

# Other ways of adapting a system have no short name.
SHORT_METHODS = (Method.FT, Method.PT, Method.ICL)
INTERVAL = "95 % interval"
NORMALISED = {
    "squad": "without case, punctuation, the articles a, an and the, and superfluous space, as the "
    "official script of SQuAD does (normalisation squad)",
}
INTERVALS = {
    "satterthwaite-logit": "a two-way model of annotators and items, whose variance is the mean "
    "squares' max(MSA + MSI – MSE, MSA, MSI)/(nm), with Satterthwaite's degrees of freedom kept "
    "within n – 1 and m – 1, on the logit scale",
    "two-way-bootstrap": "a two-way bootstrap of annotators and items with Satterthwaite's "
    "degrees of freedom, where not everybody answered the same items",
    "wilson": "a Wilson interval over the items, where nothing varied",
    EPISODE_BOOTSTRAP: "a percentile bootstrap over episodes, as FLEX (Bragg et al. 2021) reports "
    "them, of the mean over an episode's annotators",
    "t": "Student's t over the annotators' means",
}


def scoring(facts: Facts) -> Section:
    policies = {task.task.reference_policy for task in facts.design.tasks}
    words = {
        "any": "the best of several reference answers",
        "set": "the union of several reference answers",
    }
    lines = [
        "Answers were scored by S1, the metric of CLUES (Mukherjee et al. 2021): 1 if both the "
        "answer and the reference are empty, 0 if only one is or they share nothing, else the F1 "
        "of the two sets of texts, by exact match. People and systems went through the same code "
        f"(scorer version {facts.scorer_version}) on the same test items; every item counts alike.",
        f"An answer counts against {listed(words[policy] for policy in sorted(policies))}.",
        *_normalisations(facts),
        *_gold(facts),
    ]
    return Section("Scoring", paragraph(lines))


def _normalisations(facts: Facts) -> Iterator[str]:
    """Of the tasks that have one."""
    for name, words in NORMALISED.items():
        tasks = [task.task.slug for task in facts.design.tasks if task.task.normalisation == name]
        if tasks:
            yield f"On {listed(tasks)}, answers and references were compared {words}."


def _gold(facts: Facts) -> Iterator[str]:
    for task in facts.design.tasks:
        for correction in task.corrections:
            yield (
                f"The reference answers of {task.task.slug} were corrected on {day(correction.at)} "
                f"(version {correction.number}): {correction.reason.rstrip('.')}. Annotators saw, "
                f"and were screened by, version {task.shown_gold}; scores are at version "
                f"{task.scored_gold}."
            )


def uncertainty(facts: Facts) -> Section:
    rows = [cell.row for cell in facts.results.cells]
    used = {(row.ci_method or "").partition(" over ")[0] for row in rows}
    how = [words for key, words in INTERVALS.items() if key in used]
    over_splits = any(" over " in (row.ci_method or "") for row in rows)
    lines = [
        "A cell is a task with a number of shots. Its mean is over its annotators, each with the "
        "mean of their items; the SD is the sample SD over annotators."
        if used != {EPISODE_BOOTSTRAP}
        else "",
        "A cell of episodes is a task with or without training examples. Its mean and SD (without "
        "Bessel's correction) are over episodes."
        if EPISODE_BOOTSTRAP in used
        else "",
        f"The 95 % intervals are for other people on other items like these, by {listed(how)}."
        if how
        else "",
        "Items that share a context count as one cluster."
        if any(task.contexts < task.items for task in facts.design.tasks)
        else "",
        "Where several annotators worked on a training split, the split is the unit of the "
        "interval."
        if over_splits
        else "",
        "A cell of one annotator has no SD and no interval." if any(r.n == 1 for r in rows) else "",
        f"Cells of fewer than {EXPLORATORY_BELOW} annotators"
        f"{', or splits where they are the unit,' if over_splits else ''} are exploratory: no "
        "claim of better or worse rests on them."
        if facts.results.is_exploratory
        else "",
        f"All random draws in these figures follow from the seed {facts.results.seed}.",
    ]
    return Section("Uncertainty", paragraph(lines), results_table(facts.results))


def tests(facts: Facts) -> Section:
    found = facts.results
    if not found.tests and not found.changes:
        return Section("Tests", ())
    systems = list(dict.fromkeys(test.system for test in found.tests))
    lines = [
        f"People were compared with {listed(systems)} on the items that both sides answered, by a "
        "t test of the paired difference over annotators, runs and item clusters, with "
        f"Satterthwaite's degrees of freedom. The p values of the {len(found.tests)} tests are "
        "adjusted by Holm's method."
        if found.tests
        else "People were compared with no system.",
        f"Cells of a task with more and with fewer shots were compared in the same way "
        f"({counted(len(found.changes), 'test')}, adjusted by Holm's method apart)."
        if found.changes
        else "",
        "Overlap of SDs was not used as a test.",
    ]
    return Section("Tests", paragraph(lines), tests_table(found))


def data(facts: Facts) -> Section:
    warned = [task for task in facts.design.tasks if task.warnings]
    return Section(
        "Known problems of the data",
        tuple(f"{each.task.slug}: {' '.join(each.warnings)}" for each in warned),
    )


def results_table(found: Results) -> Table:
    has_guard = any(cell.row.guard_low is not None for cell in found.cells)
    guard = "; beside it, for fewer than five annotators, the band with n – 1 degrees of freedom"
    table = Table(
        "cells",
        "Cells: mean S1 in percent, SD over n annotators, 95 % interval for new items over m item "
        f"clusters{guard if has_guard else ''}, and what no skill earns.",
        "",
        (
            Column("task", "Task", is_number=False, is_name=True),
            Column("shots", "Shots"),
            Column("n", "n"),
            Column("m", "m"),
            Column("mean", "Mean", digits=1),
            Column("sd", "SD", digits=1),
            Column("interval", INTERVAL),
            Column("guard", "Guard band"),
            Column("no_skill", "No skill", digits=1),
        ),
        lines_of(map(_cell_record, found.cells)),
        is_short=True,
    )
    return table if has_guard else table.without({"guard"})


def _cell_record(cell: CellFacts) -> dict[str, Value]:
    row = cell.row
    return {
        "task": row.task,
        "shots": row.shots,
        "n": row.n,
        "m": row.m,
        "mean": row.mean,
        "sd": row.sd,
        "interval": from_to(row.ci_low, row.ci_high),
        "guard": from_to(row.guard_low, row.guard_high),
        "no_skill": cell.no_skill,
    }


def tests_table(found: Results) -> Table:
    return Table(
        "tests",
        "Differences in points of S1, people less system, and more shots less fewer, for new "
        "items, over m item clusters that both sides answered; left out are items that one side "
        "did not answer. Of fewer than five annotators a test is exploratory.",
        "",
        (
            Column("task", "Task", is_number=False, is_name=True),
            Column("shots", "Shots", is_number=False),
            Column("against", "Against", is_number=False),
            Column("difference", "Difference", digits=1),
            Column("interval", INTERVAL),
            p_column("p", "p"),
            p_column("p_holm", "p, Holm"),
            Column("n", "n"),
            Column("r", "r"),
            Column("m", "m"),
            Column("left_out", "Left out"),
        ),
        lines_of(map(_test_record, (*found.tests, *found.changes))),
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
        "p": known(test.p),
        "p_holm": known(test.p_holm),
        "n": test.n,
        "r": test.r,
        "m": test.m,
        "left_out": test.left_out,
    }
