"""How a study was scored, how certain its figures are, and what was tested."""

from collections.abc import Iterator, Sequence
from math import isnan

from scoring.comparison.differences import Difference
from scoring.comparison.rows import EPISODE_BOOTSTRAP
from scoring.comparison.to_json import known
from scoring.core.intervals import EXPLORATORY_BELOW
from scoring.core.verdicts import AHEAD, BEHIND, EXPLORATORY, SAME, UNDECIDED
from scoring.models import Method
from scoring.report.facts import Facts
from scoring.report.results import CellFacts, Results
from scoring.report.section import Section, paragraph
from scoring.report.words import capital, counted, day, from_to, listed
from scoring.tables.table import Column, Table, Value, lines_of, p_column

# Other ways of adapting a system have no short name.
SHORT_METHODS = (Method.FT, Method.PT, Method.ICL)
INTERVAL = "95 % interval"
OUTCOMES = {
    AHEAD: "ahead",
    BEHIND: "behind",
    SAME: "as good within the margin",
    UNDECIDED: "not told apart from the system",
}
NORMALISED = {
    "squad": "without case, punctuation, the articles a, an and the, and superfluous space, as the "
    "official script of SQuAD does (normalisation squad)",
}
# In a table; a change between shots has none.
VERDICTS = {
    AHEAD: "ahead",
    BEHIND: "behind",
    SAME: "as good",
    UNDECIDED: "not told apart",
    EXPLORATORY: "exploratory",
}
INTERVALS = {
    "wilson": "Wilson's interval with the effective number of answers of a two-way model of "
    "annotators and items, whose variance is the mean squares' max(MSA + MSI – MSE, MSA, "
    "MSI)/(nm), taken with one more item that everybody got wrong (right, below one half), and "
    "with Satterthwaite's degrees of freedom kept within n – 1 and m",
    "wilson-gaps": "the same with mean squares from an additive least-squares fit, where not "
    "everybody answered the same items",
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
        f"(scorer version {facts.scorer_version}); every item counts alike.",
        f"An answer counts against {listed(words[policy] for policy in sorted(policies))}.",
        *_normalisations(facts),
        *_gold(facts),
    ]
    return Section("Scoring", paragraph(lines))


def _normalisations(facts: Facts) -> Iterator[str]:
    """Of the tasks that have one."""
    for name, words in NORMALISED.items():
        tasks = [str(task.task) for task in facts.design.tasks if task.task.normalisation == name]
        if tasks:
            yield f"On {listed(tasks)}, answers and references were compared {words}."


def _gold(facts: Facts) -> Iterator[str]:
    for task in facts.design.tasks:
        for correction in task.corrections:
            yield (
                f"The reference answers of {task.name} were corrected on {day(correction.at)} "
                f"(version {correction.number}): {correction.reason.rstrip('.')}. Annotators saw, "
                f"and were screened by, version {task.shown_gold}; scores are at version "
                f"{task.scored_gold}."
            )


def uncertainty(facts: Facts) -> Section:
    rows = [cell.row for cell in facts.results.cells]
    used = {row.ci_method for row in rows}
    how = [words for key, words in INTERVALS.items() if key in used]
    lines = [
        "A cell is a task with a number of shots. Its mean is over its annotators, each with the "
        "mean of their items; the SD is the sample SD over annotators."
        if used != {EPISODE_BOOTSTRAP}
        else "",
        "A cell of episodes is a task with or without training examples. Its mean and SD (without "
        "Bessel's correction) are over episodes."
        if EPISODE_BOOTSTRAP in used
        else "",
        f"The 95 % intervals are for {_whom(facts)} on other items like these, by {listed(how)}."
        if how
        else "",
        "Items that share a context count as one cluster."
        if any(task.contexts < task.items for task in facts.design.tasks)
        else "",
        *_shot_sets(facts.results.cells),
        "A cell of one annotator has no SD and no interval." if any(r.n == 1 for r in rows) else "",
        f"Cells of fewer than {EXPLORATORY_BELOW} annotators are exploratory: no claim of better "
        "or worse rests on them."
        if facts.results.is_exploratory
        else "",
        f"All random draws in these figures follow from the seed {facts.results.seed}.",
    ]
    return Section("Uncertainty", paragraph(lines), results_table(facts.results))


def _whom(facts: Facts) -> str:
    """Nobody who is screened out enters a figure, so none speaks of such people."""
    passing = " and pass the same screening" if facts.has_screening else ""
    return f"other people who are recruited in the same way{passing},"


def _shot_sets(cells: Sequence[CellFacts]) -> Iterator[str]:
    """What a cell's shot sets let it speak of."""
    learned = [cell for cell in cells if cell.row.shots != 0 and not cell.is_of_episodes]
    one = [cell.name for cell in learned if cell.is_of_one_shot_set]
    mixed = [cell.name for cell in cells if cell.has_people_for_splits]
    pooled = [cell.name for cell in cells if cell.row.splits > 1 and cell.name not in mixed]
    if one and len(one) == len(learned):
        yield "Each cell with training is of one shot set, and speaks of that shot set alone."
    elif one:
        yield (
            "With one shot set a cell speaks of that shot set alone; such cells are "
            f"{'; '.join(one)}."
        )
    if pooled:
        yield (
            f"Where several annotators worked on each of several shot sets, the interval is for "
            "these shot sets: how annotators differ is pooled within them, and the degrees of "
            "freedom are at least n less the number of shot sets instead of n – 1 "
            f"({'; '.join(pooled)})."
        )
    if mixed:
        yield (
            "With one annotator on each of several shot sets, how people and how shot sets differ "
            f"cannot be told apart; the interval holds both ({'; '.join(mixed)})."
        )


def tests(facts: Facts) -> Section:
    results = facts.results
    if not results.tests and not results.changes:
        return Section("Tests", ())
    systems = list(dict.fromkeys(test.system for test in results.tests))
    lines = [
        f"People were compared with {listed(systems)} on the items that both sides answered, by a "
        "t test of the paired difference over annotators, runs and item clusters, with "
        f"Satterthwaite's degrees of freedom. {_margin(facts.study.margin)} "
        f"{_adjusted(results.tests)} {_outcomes(results.family)}".rstrip()
        if results.tests
        else "People were compared with no system.",
        "Cells of a task with more and with fewer shots were compared in the same way, as tests "
        f"of their own. {_adjusted(results.changes)}"
        if results.changes
        else "",
        "Overlap of SDs was not used as a test.",
        "What the systems saw in their training is not known: where the items are public, they may "
        "have been part of it, which would raise the systems' figures and not the people's."
        if results.tests
        else "",
    ]
    return Section("Tests", paragraph(lines), tests_table(results))


def _margin(margin: float) -> str:
    """What p is of, and what may be said."""
    if not margin:
        return (
            "No margin was set before the start: people are ahead of a system or behind it where "
            "the difference is surely not 0, and never called as good."
        )
    points = f"{margin:g} {'point' if margin == 1 else 'points'}"
    return (
        f"The margin, set before the start, is {points}: people are ahead of a system or behind it "
        "where the difference is surely larger than that, and as good where it surely is not. p is "
        "that of the likeliest of the three."
    )


def _outcomes(family: Sequence[Difference]) -> str:
    """Of the tests that allow a claim, by the rule of the comparison."""
    if not family:
        return ""
    told = [
        f"{words} in {count}"
        for outcome, words in OUTCOMES.items()
        if (count := sum(test.outcome == outcome for test in family))
    ]
    weak = sum(bool(test.falls) for test in family)
    falls = (
        f" {capital(counted(weak, 'of these verdicts', 'of these verdicts'))} would be another "
        "without some one annotator."
        if weak
        else ""
    )
    return f"After adjusting, people are {listed(told)} of them.{falls}"


def _adjusted(tests: Sequence[Difference]) -> str:
    """Which of these tests Holm's method holds together, and what becomes of the others."""
    family = sum(not isnan(test.p_holm) for test in tests)
    impossible = sum(isnan(test.p) for test in tests)
    exploratory = len(tests) - family - impossible
    told = [
        f"Holm's method adjusts the p values of {counted(family, 'test')} together, "
        f"{'the one' if family == 1 else 'those'} with five annotators or more."
        if family
        else "",
        f"{capital(counted(exploratory, 'test'))} of fewer than five annotators "
        f"{'is' if exploratory == 1 else 'are'} exploratory and not adjusted."
        if exploratory
        else "",
        f"{capital(counted(impossible, 'comparison'))} "
        f"{'has' if impossible == 1 else 'have'} too few annotators or items for a test."
        if impossible
        else "",
    ]
    return " ".join(filter(None, told))


def data(facts: Facts) -> Section:
    """In the words of whoever imported the benchmark, and of the audit."""
    source = facts.study.benchmark.source.strip()
    terms = source or "Source and licence of the benchmark are not stored."
    warned = [task for task in facts.design.tasks if task.warnings]
    return Section(
        "Data and their terms",
        (
            *filter(str.strip, terms.splitlines()),
            *(f"Known problems of {task.name}: {' '.join(task.warnings)}" for task in warned),
        ),
    )


def results_table(results: Results) -> Table:
    has_guard = any(cell.row.guard_low is not None for cell in results.cells)
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
        lines_of(map(_cell_record, results.cells)),
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


def tests_table(results: Results) -> Table:
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
        "p": known(test.p) if test.p_direction is None else test.p_direction,
        "p_holm": known(test.p_holm),
        "verdict": VERDICTS.get(test.outcome),
        "n": test.n,
        "r": test.r,
        "m": test.m,
        "left_out": test.left_out,
    }
