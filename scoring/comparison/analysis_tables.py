"""The parts of an analysis as tables: how each is read on a page, and exported."""

from collections.abc import Callable, Sequence
from typing import Any

from django.utils.translation import gettext_lazy as _

from scoring.tables.table import Column, Table, Text, lines_of, p_column

Plain = dict[str, Any]


def _text(key: str, heading: Text) -> Column:
    return Column(key, heading, is_number=False)


def _points(key: str, heading: Text) -> Column:
    return Column(key, heading, digits=1)


WHERE = (
    _text("study", _("Study")),
    _text("simulated", _("Simulated")),
    _text("task", _("Task")),
    Column("shots", _("Shots")),
)
UNDER = (_text("references", _("References")), Column("gold_version", _("Gold version")))
POSITIONS = (Column("first", _("From position")), Column("last", _("To position")))
DIFFERENCE = (
    _points("difference", _("Difference")),
    _points("low", _("95 % low")),
    _points("high", _("95 % high")),
    _points("se", "SE"),
    Column("df", "df", digits=1),
    p_column("p", "p"),
    p_column("p_holm", _("p, Holm")),
    p_column("p_bh", _("p, BH")),
    p_column("sign_flip_p", _("p, sign flips")),
    Column("n", "n"),
    Column("r", "r"),
    Column("m", "m"),
    Column("left_out", _("Items left out")),
    _text("notes", _("Notes")),
)


def analysis_tables(result: Plain) -> list[Table]:
    """Every table of a kept analysis; those without rows are left out."""
    tables = [make_table(result) for make_table in TABLES.values()]
    return [table for table in tables if table.lines]


def tests_table(result: Plain) -> Table:
    return Table(
        "tests",
        _("People against systems, on the same items"),
        _(
            "Percent points, people less system, for other people, other runs and other items like "
            "these: Satterthwaite's t on the items that both sides answered. Holm's p covers all "
            "tests of people in this table; Benjamini and Hochberg's is for exploring. n and r "
            "count annotators and runs, or splits where several share one. The sign-flip test over "
            "item clusters is about these people and these runs only. Non-overlapping SD bars are "
            "not a test."
        ),
        (
            *WHERE,
            _text("system", _("System")),
            _text("method", _("Method")),
            _text("parameters", _("Parameters")),
            _points("mean", _("People")),
            _points("other_mean", _("System's mean")),
            *DIFFERENCE,
            *UNDER,
        ),
        lines_of(map(_with_notes, result["tests"])),
    )


def changes_table(result: Plain) -> Table:
    return Table(
        "changes",
        _("Change between shots"),
        _(
            "Percent points, more shots less fewer, on the same items and with other people: "
            "Satterthwaite's t for other people and other items like these. The p values are "
            "adjusted over this table."
        ),
        (
            *WHERE,
            Column("other_shots", _("Against shots")),
            _points("mean", _("More")),
            _points("other_mean", _("Fewer")),
            *DIFFERENCE,
            *UNDER,
        ),
        lines_of(map(_with_notes, result["changes"])),
    )


def uncertainty_table(result: Plain) -> Table:
    return Table(
        "uncertainty",
        _("The uncertainty of each cell"),
        _(
            "New items: how other people would do on other items like these; these items: on "
            "exactly this test set. The guard band is given beside the interval for n below 5. "
            "Components are variances of scores in [0, 1]; they feed the planner."
        ),
        (
            *WHERE,
            _points("mean", _("Mean")),
            _points("sd", "SD"),
            _points("sd_ddof0", _("SD (ddof 0)")),
            Column("n", "n"),
            Column("m", "m"),
            _points("new_items_low", _("New items, low")),
            _points("new_items_high", _("New items, high")),
            Column("new_items_df", "df", digits=1),
            _text("new_items_method", _("New items, method")),
            _points("guard_low", _("Guard band, low")),
            _points("guard_high", _("Guard band, high")),
            _points("these_items_low", _("These items, low")),
            _points("these_items_high", _("These items, high")),
            _text("these_items_method", _("These items, method")),
            Column("annotator_var", _("Annotator variance"), digits=4),
            Column("item_var", _("Item variance"), digits=4),
            Column("residual_var", _("Residual variance"), digits=4),
            Column("splits", _("Splits")),
            Column("split_var", _("Variance between splits"), digits=4),
            Column("within_split_var", _("Variance within splits"), digits=4),
            *UNDER,
        ),
        lines_of(_flat_cell(cell) for cell in result["cells"]),
    )


def agreement_table(result: Plain) -> Table:
    return Table(
        "agreement",
        _("Consensus and agreement"),
        _(
            "Consensus holds what more than half of the annotators chose; it is a figure of its"
            " own, not the mean annotator's. α is Krippendorff's; intervals by bootstrap over "
            "contexts."
        ),
        (
            *WHERE,
            _points("consensus", _("Consensus S1, %")),
            Column("n", "n"),
            Column("items", _("Items")),
            *_agreement_columns("masi", "α, MASI"),
            *_agreement_columns("pairwise_s1", "S1 of pairs"),
            *_agreement_columns("empty", "α, empty or not"),
            *UNDER,
        ),
        lines_of(_flat_accord(cell) for cell in result["cells"] if cell["accord"]),
    )


def curves_table(result: Plain) -> Table:
    return Table(
        "curves",
        _("Learning over the training items"),
        _(
            "S1 in percent by position in the shot set, over everybody who finished the training, "
            "screened out or not. Adjusted: corrected for which items happened to be there, since "
            "orders differ; the model is additive, so it may exceed 100."
        ),
        (
            *WHERE,
            Column("annotators", _("Annotators")),
            *POSITIONS,
            Column("answers", _("Answers")),
            _points("mean", _("Mean")),
            _points("adjusted", _("Adjusted")),
            _points("se", _("SE of adjusted")),
            *UNDER,
        ),
        lines_of(
            {**_place(curve), "annotators": curve["annotators"], **point}
            for curve in result["curves"]
            for point in curve["points"]
        ),
    )


def annotator_curves_table(result: Plain) -> Table:
    return Table(
        "annotator-curves",
        _("Learning of each annotator"),
        _("Mean S1 in percent over the same positions, not adjusted."),
        (
            *WHERE,
            _text("annotator", _("Annotator")),
            *POSITIONS,
            _points("mean", _("Mean")),
            *UNDER,
        ),
        lines_of(
            {
                **_place(curve),
                "annotator": name,
                "first": point["first"],
                "last": point["last"],
                "mean": mean,
            }
            for curve in result["curves"]
            for name, means in curve["by_annotator"].items()
            for point, mean in zip(curve["points"], means, strict=True)
        ),
        is_folded=True,
    )


def aggregates_table(result: Plain) -> Table:
    return Table(
        "aggregates",
        _("Over all tasks"),
        _(
            "The mean of the task means, only for those who have all of them. SD is that of this "
            "mean, √(Σ sd²)/T; the CLUES leaderboard prints √(Σ sd²) instead."
        ),
        (
            _text("kind", _("Kind")),
            _text("study", _("Study")),
            _text("system", _("System")),
            _text("method", _("Method")),
            _text("parameters", _("Parameters")),
            Column("shots", _("Shots")),
            _points("mean", _("Mean")),
            _points("sd", _("SD of the mean")),
            _points("clues_sd", _("SD as CLUES prints it")),
            _text("tasks", _("Tasks")),
            _text("references", _("References")),
            _text("source", _("Source")),
        ),
        lines_of(
            {
                **row,
                "tasks": ", ".join(row["tasks"]),
                "references": ", ".join(row.get("references", ())),
            }
            for row in result["aggregates"]
        ),
    )


def excluded_table(result: Plain) -> Table:
    return Table(
        "excluded",
        _("Without and with excluded annotators"),
        _("Cells that hold excluded annotators, side by side."),
        (
            *WHERE,
            *(
                _points(f"{side}_{key}", f"{heading} {side}")
                for side in ("without", "with")
                for key, heading in (
                    ("mean", _("Mean")),
                    ("sd", "SD"),
                    ("n", "n"),
                    ("m", "m"),
                    ("ci_low", "95 % low"),
                    ("ci_high", "95 % high"),
                )
            ),
            *(_text(f"{side}_ci_method", f"{_('Method')} {side}") for side in ("without", "with")),
            _text("estimand", _("Interval for")),
            *UNDER,
        ),
        lines_of(_flat_sides(row) for row in result["excluded"]),
    )


def provenance_table(facts: Plain) -> Table:
    """What the other tables of a document rest on; it goes with them."""
    return Table(
        "provenance",
        _("What these figures rest on"),
        _(
            "Stale: answers, runs, gold or figures have changed since this was computed, so it no "
            "longer matches the data."
        ),
        (
            _text("inputs", _("Fingerprint of the inputs")),
            _text("computed_at", _("Computed at")),
            _text("stale", _("Stale")),
            Column("seed", _("Seed")),
            Column("scorer_version", _("Scorer version")),
            _text("references", _("References")),
            _text("estimand", _("Interval for")),
        ),
        lines_of([facts]),
    )


TABLES: dict[str, Callable[[Plain], Table]] = {
    "tests": tests_table,
    "changes": changes_table,
    "uncertainty": uncertainty_table,
    "agreement": agreement_table,
    "curves": curves_table,
    "annotator-curves": annotator_curves_table,
    "aggregates": aggregates_table,
    "excluded": excluded_table,
}


def _with_notes(row: Plain) -> Plain:
    return {**row, "notes": " ".join(row["notes"])}


def _agreement_columns(key: str, heading: str) -> Sequence[Column]:
    return (
        Column(key, heading, digits=2),
        Column(f"{key}_low", "95 % low", digits=2),
        Column(f"{key}_high", "95 % high", digits=2),
    )


def _place(cell: Plain) -> Plain:
    keys = ("study", "simulated", "task", "shots", "references", "gold_version")
    return {key: cell[key] for key in keys}


def _flat_cell(cell: Plain) -> Plain:
    uncertainty = dict(cell["uncertainty"])
    flat = _place(cell)
    for name in ("new_items", "these_items", "guard"):
        flat |= {f"{name}_{key}": value for key, value in (uncertainty.pop(name) or {}).items()}
    return {**flat, **uncertainty}


def _flat_accord(cell: Plain) -> Plain:
    accord = cell["accord"]
    flat = {**_place(cell), "consensus": accord["consensus"]["mean"]}
    flat["n"] = cell["uncertainty"]["n"]
    flat["items"] = accord["consensus"]["items"]
    for name in ("masi", "pairwise_s1", "empty"):
        flat |= {
            name: accord[name]["value"],
            f"{name}_low": accord[name]["low"],
            f"{name}_high": accord[name]["high"],
        }
    return flat


def _flat_sides(row: Plain) -> Plain:
    flat = {key: row[key] for key in ("study", "simulated", "task", "shots")}
    told = row.get("with") or row.get("without") or {}
    flat |= {key: told.get(key) for key in ("estimand", "references", "gold_version")}
    for side in ("without", "with"):
        flat |= {f"{side}_{key}": value for key, value in (row.get(side) or {}).items()}
    return flat
