"""The cells of an analysis as tables: their uncertainty, how far their annotators agree, what
exclusions changed, and their means over tasks."""

from collections.abc import Sequence
from dataclasses import replace

from scoring.comparison.analysis_columns import (
    ANNOTATORS,
    SYSTEM,
    UNDER,
    UNDER_KEYS,
    WHERE,
    Plain,
    cell_columns,
    limits,
    points,
    text,
    with_notes,
)
from scoring.comparison.rows import BY_KEY
from scoring.tables.table import Column, Table, Text, lines_of


def _variance(key: str, heading: Text, meaning: Text) -> Column:
    return Column(key, heading, meaning, digits=4)


def _agreement_columns(key: str, heading: str, meaning: Text) -> Sequence[Column]:
    limit = "A limit of its 95 % interval, by bootstrap over contexts."
    return (
        Column(key, heading, meaning, digits=2),
        Column(f"{key}_low", "95 % low", limit, digits=2),
        Column(f"{key}_high", "95 % high", limit, digits=2),
    )


CLUSTERS = Column("m", "m", "Item clusters: items that share a context count as one.")
MEAN_AND_SDS = (
    points("mean", "Mean", "Mean S1 in percent over the cell's annotators."),
    points("sd", "SD", "Sample SD (ddof 1) over annotators, in percent points."),
    points(
        "sd_ddof0",
        "SD (ddof 0)",
        "SD over annotators with n instead of n – 1, in percent points.",
    ),
)
INTERVALS = (
    *limits(
        "new_items",
        ("New items, low", "New items, high"),
        "The 95 % interval for other people on other items like these, in percent.",
    ),
    Column(
        "new_items_df",
        "df",
        "Degrees of freedom of the interval for new items.",
        digits=1,
    ),
    text(
        "new_items_method",
        "New items, method",
        "How the interval for new items was computed.",
    ),
    *limits(
        "guard",
        ("Guard band, low", "Guard band, high"),
        "The guard band, in percent; only where n is below 5. Two have nothing else.",
    ),
    *limits(
        "these_items",
        ("These items, low", "These items, high"),
        "The 95 % interval for other people on exactly this test set, in percent.",
    ),
    text(
        "these_items_method",
        "These items, method",
        "How the interval for these items was computed.",
    ),
)
COMPONENTS = (
    _variance(
        "annotator_var",
        "Annotator variance",
        "How much annotators differ, as a variance of scores in [0, 1].",
    ),
    _variance(
        "item_var",
        "Item variance",
        "How much item clusters differ in difficulty, as a variance.",
    ),
    _variance(
        "residual_var",
        "Residual variance",
        "The variance that neither annotators nor item clusters explain.",
    ),
)
BETWEEN_SPLITS = (
    Column("splits", "Splits", "Training sets that the annotators learned from."),
    BY_KEY["shot_sets"],
    _variance(
        "split_var",
        "Variance between splits",
        "How much the splits differ; empty for a single one.",
    ),
    _variance(
        "within_split_var",
        "Variance within splits",
        "How much annotators of one split differ; empty if nobody shares one.",
    ),
)
CONSENSUS = (
    points(
        "consensus",
        "Consensus S1, %",
        "Mean S1 in percent of what more than half of the annotators chose.",
    ),
    *limits(
        "consensus",
        ("Consensus, low", "Consensus, high"),
        "Its 95 % interval by bootstrap over contexts: these people, other items.",
    ),
)
AGREEMENT = (
    *_agreement_columns(
        "masi",
        "α, MASI",
        "Krippendorff's α with the MASI distance between two answers: 1 is full "
        "agreement, 0 what chance gives.",
    ),
    *_agreement_columns(
        "pairwise_s1",
        "S1 of pairs",
        "Mean S1 of two annotators' answers against each other, from 0 to 1.",
    ),
    *_agreement_columns(
        "empty", "α, empty or not", "Krippendorff's α on whether an answer is empty."
    ),
)
OVER_TASKS = (
    points("mean", "Mean", "Mean of the task means, in percent."),
    points("low", "95 % low", "Lower limit of its 95 % interval, in percent."),
    points("high", "95 % high", "Upper limit of its 95 % interval, in percent."),
    points(
        "sd",
        "SD of the mean",
        "√(Σ sd²)/T over the T tasks, in percent points; empty if an SD is missing.",
    ),
    points(
        "clues_sd",
        "SD as CLUES prints it",
        "√(Σ sd²), in percent points; empty if an SD is missing.",
    ),
)


def uncertainty_table(result: Plain) -> Table:
    return Table(
        "uncertainty",
        "The uncertainty of each cell",
        "New items: how other people would do on other items like these; these items: on "
        "exactly this test set. The guard band is given beside the interval for n below 5. "
        "Components are variances of scores in [0, 1]; they feed the planner.",
        (
            *WHERE,
            *MEAN_AND_SDS,
            ANNOTATORS,
            CLUSTERS,
            *INTERVALS,
            *COMPONENTS,
            BY_KEY["without_low"],
            BY_KEY["without_high"],
            BY_KEY["flagged"],
            *BETWEEN_SPLITS,
            BY_KEY["notes"],
            *UNDER,
        ),
        lines_of(_flat_cell(cell) for cell in result["cells"]),
    )


def agreement_table(result: Plain) -> Table:
    return Table(
        "agreement",
        "Consensus and agreement",
        "Consensus holds what more than half of the annotators chose; it is a figure of its"
        " own, not the mean annotator's. α is Krippendorff's; intervals by bootstrap over "
        "contexts.",
        (
            *WHERE,
            *CONSENSUS,
            ANNOTATORS,
            Column("items", "Items", "Items that anybody answered."),
            points(
                "against_others",
                "Against the others",
                "Mean S1 in percent of each annotator against the consensus of the others, in "
                "place of the gold: what lies above it may be noise in the labels. Three "
                "annotators or more.",
            ),
            *AGREEMENT,
            *UNDER,
        ),
        lines_of(_flat_accord(cell) for cell in result["cells"] if cell["accord"]),
    )


def aggregates_table(result: Plain) -> Table:
    return Table(
        "aggregates",
        "Over all tasks",
        "The mean of the task means, only for those who have all of them. SD is that of this "
        "mean, √(Σ sd²)/T; the CLUES leaderboard prints √(Σ sd²) instead.",
        (
            BY_KEY["kind"],
            BY_KEY["study"],
            *SYSTEM,
            BY_KEY["shots"],
            *OVER_TASKS,
            text("tasks", "Tasks", "The tasks that the mean is over."),
            text(
                "exploratory",
                "Exploratory",
                "Whether a task has fewer than five annotators.",
            ),
            BY_KEY["notes"],
            BY_KEY["references"],
            replace(BY_KEY["normalisation"], key="normalisations"),
            text("source", "Source", "Where the figures were published, if they were."),
        ),
        lines_of(_flat_aggregate(row) for row in result["aggregates"]),
    )


def excluded_table(result: Plain) -> Table:
    return Table(
        "excluded",
        "Without and with excluded annotators",
        "Cells that hold excluded annotators, side by side.",
        (
            *WHERE,
            *(
                _of_side(side, key, heading)
                for side in ("without", "with")
                for key, heading in (
                    ("mean", "Mean"),
                    ("sd", "SD"),
                    ("n", "n"),
                    ("m", "m"),
                    ("ci_low", "95 % low"),
                    ("ci_high", "95 % high"),
                )
            ),
            *(_of_side(side, "ci_method", "Method") for side in ("without", "with")),
            BY_KEY["estimand"],
            *UNDER,
        ),
        lines_of(_flat_sides(row) for row in result["excluded"]),
    )


def _of_side(side: str, key: str, heading: Text) -> Column:
    """As the comparison has it, without or with excluded annotators."""
    return replace(BY_KEY[key], key=f"{side}_{key}", heading=f"{heading} {side}")


def _flat_cell(cell: Plain) -> Plain:
    uncertainty = dict(cell["uncertainty"])
    flat = cell_columns(cell)
    for name in ("new_items", "these_items", "guard"):
        flat |= {f"{name}_{key}": value for key, value in (uncertainty.pop(name) or {}).items()}
    return {**flat, **with_notes(uncertainty)}


def _flat_accord(cell: Plain) -> Plain:
    accord = cell["accord"]
    flat = {**cell_columns(cell), "consensus": accord["consensus"]["mean"]}
    flat |= {f"consensus_{end}": accord["consensus"].get(end) for end in ("low", "high")}
    flat["n"] = cell["uncertainty"]["n"]
    flat["against_others"] = accord["against_others"]
    flat["items"] = accord["consensus"]["items"]
    for name in ("masi", "pairwise_s1", "empty"):
        flat |= {
            name: accord[name]["value"],
            f"{name}_low": accord[name]["low"],
            f"{name}_high": accord[name]["high"],
        }
    return flat


def _flat_aggregate(row: Plain) -> Plain:
    lists = {key: row.get(key, ()) for key in ("tasks", "references", "normalisations")}
    return {**row, **{key: ", ".join(texts) for key, texts in lists.items()}}


def _flat_sides(row: Plain) -> Plain:
    flat = {key: row[key] for key in ("study", "simulated", "task", "shots")}
    told = row.get("with") or row.get("without") or {}
    flat |= {key: told.get(key) for key in ("estimand", *UNDER_KEYS)}
    for side in ("without", "with"):
        flat |= {f"{side}_{key}": value for key, value in (row.get(side) or {}).items()}
    return flat
