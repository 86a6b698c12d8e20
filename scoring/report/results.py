"""What a study measured: its cells, and its tests against systems and between shots, as a report
and its tables tell of them. Every figure is one of the comparison."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from annotation.models import Study
from scoring.analysis.analysing import STORE
from scoring.analysis.uncertainty import Record, agreement
from scoring.cells.cells import CellReader, shots_of_batch
from scoring.cells.rows import EPISODE_BOOTSTRAP, Row, RowKind, no_skill
from scoring.cells.scope import Choices, Scope, inputs_fingerprint
from scoring.comparison.comparing import Comparison, compare
from scoring.comparison.keeping import is_stale
from scoring.core.intervals import EXPLORATORY_BELOW
from scoring.models import Method
from scoring.report.words import from_to, listed
from scoring.tables.table import Column, Table, Value, lines_of, p_column, rounded
from scoring.tests.differences import Difference
from scoring.tests.outcomes import STATES, state_of, verdict_in_words

# A cell's task and shots.
Place = tuple[str, int | str | None]
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


@dataclass(frozen=True)
class CellFacts:
    row: Row
    # The same cell with its excluded annotators, where there are any.
    with_excluded: Row | None
    no_skill: float | None
    # How far they agree; None for one annotator, or if not computed.
    agreement: Record | None
    # The score of what most of them answered, in percent.
    consensus: float | None

    @property
    def name(self) -> str:
        return f"{self.row.task}, {self.row.shots} shots"

    @property
    def answers_an_item(self) -> str:
        """Not every batch of a cell has all items: the fewest to the most."""
        fewest, most = self.row.answers_an_item
        return str(most) if fewest == most else f"{fewest} to {most}"

    @property
    def moved(self) -> float | None:
        """By how much the exclusions moved its mean."""
        if self.with_excluded is None or self.with_excluded.mean is None or self.row.mean is None:
            return None
        return abs(self.row.mean - self.with_excluded.mean)


class Results:
    """with_agreement: computed where it is not kept, as the analysis computes it."""

    exploratory_below = EXPLORATORY_BELOW

    def __init__(
        self, study: Study, *, simulated: bool = False, with_agreement: bool = False
    ) -> None:
        scope, choices = Scope(study.benchmark, study), Choices(simulated=simulated)
        reader = CellReader(choices)
        # Where the figures are from.
        self.comparison = table = compare(scope, choices, reader)
        # A report is read: its figures are under names where the comparison has slugs.
        names = scope.task_names
        kind = RowKind.SIMULATED if simulated else RowKind.HUMAN
        agreements = _kept_agreements(scope, choices)
        if with_agreement and not agreements:
            agreements = _computed_agreements(reader, study)
        self.cells = list(_cell_facts(table, names, agreements, kind))
        self.systems = list(_on_same_cells(table, study, names))
        self.tests, self.changes = (
            [
                replace(test, task=names[test.task or ""])
                for test in those
                if test.simulated == simulated
            ]
            for those in (table.tests, table.changes)
        )
        self.seed = choices.seed
        # Median over the test answers that count, by the server's clock.
        self.seconds_an_item = table.median_item_s
        # Cells of which every annotator was excluded: by task and shots.
        self.emptied = [
            f"{names[row.task]}, {row.shots} shots"
            for without, row in table.excluded
            if without is None and row.kind == kind
        ]

    @property
    def compared(self) -> dict[str, list[Difference]]:
        return _by_claim(self.tests)

    @property
    def changed(self) -> dict[str, list[Difference]]:
        return _by_claim(self.changes)

    @property
    def names_of_systems(self) -> list[str]:
        return list(dict.fromkeys(test.system or "" for test in self.tests))

    @property
    def outcomes(self) -> dict[str, int]:
        """Of the tests of the family, in words and in the order of the states."""
        counts = Counter(map(state_of, self.compared["family"]))
        told = {verdict_in_words(test): state_of(test) for test in self.compared["family"]}
        order = list(STATES)
        return {
            words: counts[state]
            for words, state in sorted(told.items(), key=lambda one: order.index(one[1]))
        }

    @property
    def agreeing(self) -> list[CellFacts]:
        return [cell for cell in self.cells if cell.agreement]

    @property
    def lacks_agreement(self) -> bool:
        """Whether agreement is possible but has not been computed."""
        return any(
            (cell.row.n or 0) > 1 and cell.agreement is None and not cell.row.is_of_episodes
            for cell in self.cells
        )

    @property
    def moved_most(self) -> CellFacts | None:
        """The cell whose mean the exclusions moved most."""
        return max(self.moved, key=lambda cell: cell.moved or 0, default=None)

    @property
    def moved(self) -> list[CellFacts]:
        return [cell for cell in self.cells if cell.moved is not None]

    @property
    def with_interval(self) -> int:
        return sum(cell.row.ci_low is not None for cell in self.cells)

    @property
    def with_sd(self) -> int:
        return sum(cell.row.sd is not None for cell in self.cells)

    @cached_property
    def methods_used(self) -> set[str | None]:
        return {cell.row.ci_method for cell in self.cells}

    @property
    def has_episodes(self) -> bool:
        return EPISODE_BOOTSTRAP in self.methods_used

    @property
    def is_of_episodes_alone(self) -> bool:
        return self.methods_used == {EPISODE_BOOTSTRAP}

    @property
    def intervals(self) -> list[str]:
        return [words for name, words in INTERVALS.items() if name in self.methods_used]

    @property
    def shot_sets(self) -> dict[str, list[str]]:
        """What a cell's shot sets let it speak of: `one` has one of them, and `mixed` one
        annotator on each of several, so that the two cannot be told apart."""
        cells = [cell for cell in self.cells if not cell.row.is_of_episodes]
        learned = [cell for cell in cells if cell.row.shots != 0]
        mixed = [cell.name for cell in cells if 1 < cell.row.splits == cell.row.n]
        return {
            "learned": [cell.name for cell in learned],
            "one": [cell.name for cell in learned if cell.row.splits == 1],
            "pooled": [
                cell.name for cell in self.cells if cell.row.splits > 1 and cell.name not in mixed
            ],
            "mixed": mixed,
        }

    @property
    def has_cell_of_one(self) -> bool:
        return any(cell.row.n == 1 for cell in self.cells)

    @property
    def is_exploratory(self) -> bool:
        """Whether any cell is too small for a claim."""
        return self.has_cell_of_one or any(cell.row.is_exploratory for cell in self.cells)


def _by_claim(tests: Sequence[Difference]) -> dict[str, list[Difference]]:
    """The tests that Holm's method adjusts together, since they allow a claim; those of smaller
    cells; and comparisons that too few annotators or items leave without a test."""
    return {
        "family": [test for test in tests if test.in_family],
        "exploratory": [test for test in tests if not test.in_family and test.p is not None],
        "impossible": [test for test in tests if test.p is None],
    }


def _on_same_cells(table: Comparison, study: Study, names: Mapping[str, str]) -> Iterable[Row]:
    """The systems that ran on a task with as many shots as a batch of the study."""
    batches = study.batches.select_related("task", "training_set", "test_set")
    places = {(batch.task.slug, shots_of_batch(batch)) for batch in batches}
    for row in table.rows:
        if row.kind == RowKind.RUN and row.mean is not None and (row.task, row.shots) in places:
            yield replace(row, task=names[row.task])


def _kept_agreements(scope: Scope, choices: Choices) -> dict[Place, Record]:
    """From the kept analysis: a page does not wait for their bootstraps. None if the analysis is of
    other inputs."""
    kept = STORE.find(scope, choices)
    analysis = STORE.read(kept)
    if analysis is None or is_stale(kept, inputs_fingerprint(scope, choices)):
        return {}
    return {
        (cell["task"], cell["shots"]): cell
        for cell in analysis.agreement
        if cell["simulated"] == choices.simulated
    }


def _computed_agreements(reader: CellReader, study: Study) -> dict[Place, Record]:
    """As the analysis computes them."""
    seed, simulated = reader.choices.seed, reader.choices.simulated
    return {
        (cell.task.slug, cell.shots): agreement(cell, None, seed=seed)
        for cell in reader.people(study, simulated=simulated)
        if len(cell.scores) > 1 and not cell.is_of_episodes
    }


def _cell_facts(
    table: Comparison,
    names: Mapping[str, str],
    agreements: Mapping[Place, Record],
    kind: RowKind,
) -> Iterable[CellFacts]:
    floors = no_skill(list(table.bounds))
    excluded: dict[Place, Row] = {(row.task, row.shots): row for row in table.including}
    consensus = {(row.task, row.shots): row.mean for row in table.consensus}
    for row in table.rows:
        if row.kind != kind or row.single or row.mean is None:
            continue
        place = row.task, row.shots
        other = excluded.get(place)
        yield CellFacts(
            row=replace(row, task=names[row.task]),
            with_excluded=replace(other, task=names[row.task]) if other else None,
            no_skill=floors.get(row.task),
            agreement=agreements.get(place),
            consensus=consensus.get(place),
        )


# Other ways of adapting a system have no short name.
SHORT_METHODS = (Method.FT, Method.PT, Method.ICL)
INTERVAL = "95 % interval"
TASK = Column("task", "Task", is_number=False, is_name=True)
# A figure of one cell, None where it is not defined, with its text and that of its limits.
Figure = tuple[float | None, str, str]
# The figures of agreement by their names in a sentence.
FIGURES = {
    "masi": "alpha with MASI",
    "pairwise": "the mean S1 of pairs",
    "nominal": "nominal alpha on whole answers",
    "consensus": "the S1 of the consensus",
}


def results_table(results: Results) -> Table:
    return Table(
        "cells",
        "Cells: mean S1 in percent, SD over n annotators, 95 % interval for new items over m item "
        "clusters, and what no skill earns.",
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
        lines_of(map(_cell_record, results.cells)),
        is_short=True,
    )


def _cell_record(cell: CellFacts) -> dict[str, Value]:
    row = cell.row
    return {
        **{name: getattr(row, name) for name in ("task", "shots", "n", "m", "mean", "sd")},
        "interval": from_to(row.ci_low, row.ci_high),
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
            Column("runs", "Runs"),
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
        "p": test.p,
        "p_holm": test.p_holm,
        "verdict": verdict_in_words(test),
        **{name: getattr(test, name) for name in ("n", "runs", "m", "left_out")},
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
            Column("nominal", "Alpha, nominal"),
            Column("nominal_limits", INTERVAL),
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
        "nominal": _figure(cell.agreement, "nominal"),
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
