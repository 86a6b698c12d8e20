"""How a study was scored, how sure its figures are, and what was tested."""

from collections.abc import Iterator

from scoring.comparison.differences import Difference
from scoring.comparison.grid import rounded
from scoring.comparison.rows import EPISODE_BOOTSTRAP
from scoring.core.intervals import EXPLORATORY_BELOW
from scoring.models import Method
from scoring.report.facts import Facts
from scoring.report.results import CellFacts, Results
from scoring.report.section import Section, Table, paragraph
from scoring.report.words import counted, day, listed, p_value

# Other ways of adapting a system have no short name.
SHORT_METHODS = (Method.FT, Method.PT, Method.ICL)
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
    policies = {each.task.reference_policy for each in facts.design.tasks}
    words = {
        "any": "the best of several reference answers",
        "set": "the union of several reference answers",
    }
    lines = [
        "Answers were scored by S1, the metric of CLUES (Mukherjee et al. 2021): 1 if both the "
        "answer and the reference are empty, 0 if only one is or they share nothing, else the F1 "
        "of the two sets of texts, by exact match. People and systems went through the same code "
        f"(scorer version {facts.scorer_version}) on the same test items; every item counts alike.",
        f"An answer counts against {listed(words[each] for each in sorted(policies))}.",
        *_normalisations(facts),
        *_gold(facts),
    ]
    return Section("Scoring", paragraph(lines))


def _normalisations(facts: Facts) -> Iterator[str]:
    """Of the tasks that have one."""
    for name, words in NORMALISED.items():
        tasks = [each.task.slug for each in facts.design.tasks if each.task.normalisation == name]
        if tasks:
            yield f"On {listed(tasks)}, answers and references were compared {words}."


def _gold(facts: Facts) -> Iterator[str]:
    for each in facts.design.tasks:
        for correction in each.corrections:
            yield (
                f"The reference answers of {each.task.slug} were corrected on {day(correction.at)} "
                f"(version {correction.number}): {correction.reason.rstrip('.')}. Annotators saw, "
                f"and were screened by, version {each.shown_gold}; scores are at version "
                f"{each.scored_gold}."
            )


def uncertainty(facts: Facts) -> Section:
    rows = [each.row for each in facts.results.cells]
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
        f"The 95 % intervals speak of other people on other items like these, by {listed(how)}."
        if how
        else "",
        "Items that share a context count as one cluster."
        if any(each.contexts < each.items for each in facts.design.tasks)
        else "",
        "Where several annotators worked on a training split, the split is the unit of the "
        "interval."
        if over_splits
        else "",
        "A cell of one annotator has no SD and no interval." if any(r.n == 1 for r in rows) else "",
        f"Cells of fewer than {EXPLORATORY_BELOW} annotators"
        f"{', or splits where they are the unit,' if over_splits else ''} are exploratory: nothing "
        "is claimed to be better or worse on their ground."
        if facts.results.is_exploratory
        else "",
        f"Whatever is drawn at random in these figures follows from the seed {facts.results.seed}.",
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
        "Overlap of SDs was not taken for a test.",
    ]
    return Section("Tests", paragraph(lines), tests_table(found))


def data(facts: Facts) -> Section:
    warned = [each for each in facts.design.tasks if each.warnings]
    return Section(
        "Known problems of the data",
        tuple(f"{each.task.slug}: {' '.join(each.warnings)}" for each in warned),
    )


def results_table(found: Results) -> Table:
    has_guard = any(cell.row.guard_low is not None for cell in found.cells)
    guard = "; beside it, for fewer than five annotators, the band with n – 1 degrees of freedom"
    return Table(
        caption="Cells: mean S1 in percent, SD over n annotators, 95 % interval for new items over "
        f"m item clusters{guard if has_guard else ''}, and what no skill earns.",
        heads=("Task", "Shots", "n", "m", "Mean", "SD", "95 % interval")
        + (("Guard band",) if has_guard else ())
        + ("No skill",),
        names=1,
        lines=tuple(_cell_line(cell, has_guard=has_guard) for cell in found.cells),
    )


def _cell_line(cell: CellFacts, *, has_guard: bool) -> tuple[str, ...]:
    row = cell.row
    return (
        row.task,
        str(row.shots),
        str(row.n),
        "–" if row.m is None else str(row.m),
        rounded(row.mean) or "–",
        rounded(row.sd) or "–",
        _limits(row.ci_low, row.ci_high),
        *((_limits(row.guard_low, row.guard_high),) if has_guard else ()),
        rounded(cell.no_skill) or "–",
    )


def tests_table(found: Results) -> Table:
    heads = ("Task", "Shots", "Against", "Difference", "95 % interval", "p", "p, Holm")
    heads += ("n", "r", "m", "Left out")
    return Table(
        caption="Differences in points of S1, people less system, and more shots less fewer, for "
        "new items, over m item clusters that both sides answered; left out are items that one "
        "side did not answer. Of fewer than five annotators a test is exploratory.",
        heads=heads,
        names=3,
        lines=tuple(map(_test_line, (*found.tests, *found.changes))),
    )


def _test_line(test: Difference) -> tuple[str, ...]:
    method = test.method if test.method in SHORT_METHODS else ""
    against = f"{test.system} {method}" if test.method else f"{test.other_shots} shots"
    return (
        test.task,
        str(test.shots),
        against.strip(),
        rounded(test.difference) or "–",
        _limits(test.low, test.high),
        p_value(test.p),
        p_value(test.p_holm),
        str(test.n),
        str(test.r),
        str(test.m),
        str(test.left_out),
    )


def _limits(low: float | None, high: float | None) -> str:
    return "–" if low is None or high is None else f"{rounded(low)} to {rounded(high)}"
