import json
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandError

from annotation.management.arguments import RefusingCommand, find_study
from scoring.core.intervals import ESTIMANDS
from scoring.core.power import Contrast
from scoring.planning.designs import USUAL_MEAN, Assumptions, usual_components
from scoring.planning.pilots import Pilot, read_pilot
from scoring.planning.plans import LEAST_COVERAGE, Plan, make_plan
from scoring.planning.tables import plan_as_plain, plan_table
from scoring.tables.documents import as_text

# The option of each field, for the sentence that says where its value comes from.
FIELDS = {
    "rate": "an hour's pay",
    "fee": "the platform's fee on top, as a share (0.33 for a third)",
    "onboarding_s": "seconds before the first item",
    "shots": "training items per annotator",
    "train_s": "seconds for a training item, its reveal included",
    "item_s": "seconds for a test item",
    "max_items": "items of the test set",
    "annotator_var": "variance between annotators, of scores in [0, 1]",
    "item_var": "variance between items",
    "residual_var": "residual variance, beyond annotators and items",
    "viewers": "people for each item, where the test set is handed out in parts",
    "splits": "splits or episodes that the cell's annotators are spread over",
}
# As in `Contrast`, and whether in percent points.
OF_SYSTEM = {
    "difference": ("a difference to show, people minus the system", True),
    "runs": ("how many runs the system has", False),
    "run_sd": ("the SD of its runs", True),
    "correlation": ("of what is hard for people and for the system, from -1 to 1", False),
    "margin": ("within which both are as good as each other", True),
    "comparisons": ("systems that the study names", False),
}


class Command(RefusingCommand):
    help = (
        "Plan a study: how many annotators on how many items, for a budget, a target width of the "
        "interval, or a difference to show four times out of five. What is not given comes from a "
        "pilot (--study) or is assumed. Reads the pilot's answers; writes only stored score "
        "vectors."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        aim = parser.add_mutually_exclusive_group()
        aim.add_argument("--budget", type=float, help="money, in the currency of the rate")
        aim.add_argument("--width", type=float, help="width of the interval, in percent points")
        for name, words in FIELDS.items():
            whole = isinstance(getattr(Assumptions(), name), int | None)
            parser.add_argument(_option(name), dest=name, type=int if whole else float, help=words)
        add = parser.add_argument
        add("--mean", type=float, metavar="PERCENT", help="what people score on average")
        add("--currency", help="of the rate and the budget (default: the pilot's)")
        add("--estimand", choices=ESTIMANDS, default="new_items")
        pilot = parser.add_argument_group("a pilot").add_argument
        pilot("--study", metavar="SLUG", help="take whatever is not given from this study")
        pilot("--task", default="", metavar="TASK", help="which of its tasks")
        pilot("--pilot-shots", type=int, metavar="K", help="which of its shots, if it has several")
        simulated = "use its simulated annotators, to try this out"
        pilot("--pool", metavar="NAME", help="which of its pools, if it has several")
        pilot("--simulated", action="store_true", help=simulated)
        contrast = parser.add_argument_group("a system to compare with").add_argument
        for name, (words, is_points) in OF_SYSTEM.items():
            kind = int if name in ("runs", "comparisons") else float
            contrast(_option(name), type=kind, metavar="POINTS" if is_points else None, help=words)
        check = parser.add_argument_group("for the check by simulation").add_argument
        coverage = "how often the interval must cover the truth (default: %(default)s)"
        check("--min-coverage", type=float, default=LEAST_COVERAGE, help=coverage)
        check("--no-simulation", action="store_true", help="the formula alone")
        check("--seed", type=int, default=0)
        add("--format", choices=["table", "json"], default="table")

    def handle(self, *args: Any, **options: Any) -> None:
        pilot = None
        if options["study"]:
            cell = {name: options[name] for name in ("task", "pool", "simulated")}
            study = find_study(options["study"])
            pilot = read_pilot(study, shots=options["pilot_shots"], **cell)
        assumptions = _assumptions(options, pilot)
        contrast = _contrast(options)
        width = None if options["width"] is None else options["width"] / 100
        least = None if options["no_simulation"] else options["min_coverage"]
        aim = {"budget": options["budget"], "width": width, "min_coverage": least}
        plan = make_plan(assumptions, contrast=contrast, seed=options["seed"], **aim)
        for line in _sources(options, pilot):
            self.stderr.write(line)
        if options["format"] == "json":
            self.stdout.write(json.dumps(plan_as_plain(plan), indent=1))
            return
        for line in _rests_on(plan):
            self.stdout.write(line)
        if plan.frontier:
            self.stdout.write(f"\n{as_text(plan_table(plan))}")
        for note in plan.notes:
            self.stderr.write(note)


def _option(name: str) -> str:
    names = {"onboarding_s": "onboarding", "train_s": "train-seconds", "item_s": "item-seconds"}
    names["max_items"] = "items"
    return "--" + names.get(name, name).replace("_", "-")


def _assumptions(options: Mapping[str, Any], pilot: Pilot | None) -> Assumptions:
    """What is given overrides what the pilot says, which overrides what is assumed."""
    from_pilot = pilot.tells if pilot else {}
    from_options = {name: options[name] for name in FIELDS if options[name] is not None}
    if options["mean"] is not None:
        from_options["mean"] = options["mean"] / 100
    if options["currency"]:
        from_options["currency"] = options["currency"].upper()
    named = {**from_pilot, **from_options}
    usual = asdict(usual_components(named.get("mean", USUAL_MEAN)))
    return Assumptions(
        **{**{f"{part}_var": value for part, value in usual.items()}, **named},
        estimand=options["estimand"],
    )


def _contrast(options: Mapping[str, Any]) -> Contrast | None:
    numbers = {
        name: options[name] / 100 if is_points else options[name]
        for name, (_, is_points) in OF_SYSTEM.items()
        if options[name] is not None
    }
    if numbers and "difference" not in numbers:
        raise CommandError("Give the difference in points that the study should show.")
    try:
        return Contrast(**numbers) if numbers else None
    except ValueError as error:
        raise CommandError(str(error)) from error


def _sources(options: Mapping[str, Any], pilot: Pilot | None) -> Iterator[str]:
    known = set(pilot.tells) if pilot else set()
    if pilot:
        from_pilot = [_option(name) for name in FIELDS if name in known and options[name] is None]
        if from_pilot:
            yield f"From {pilot.says}: {', '.join(from_pilot)}."
        yield from pilot.notes
    assumed = [
        _option(name)
        for name in FIELDS
        if name not in known | {"splits", "viewers"} and options[name] is None
    ]
    if assumed:
        yield f"Assumed, so check them: {', '.join(assumed)}."


def _rests_on(plan: Plan) -> Iterator[str]:
    a = plan.assumptions
    yield (
        f"{a.rate:g} {a.currency} an hour + {100 * a.fee:g} %; {a.onboarding_s:.0f} s onboarding, "
        f"{a.shots} training items at {a.train_s:.1f} s, test items at {a.item_s:.1f} s, "
        f"at most {a.max_items}; {a.splits} split{'s' * (a.splits > 1)}"
    )
    yield (
        f"mean {100 * a.expected_mean:.1f}; variance: annotators {a.annotator_var:.5f}, "
        f"items {a.item_var:.5f}, rest {a.residual_var:.5f}; "
        f"interval for {a.estimand.replace('_', ' ')}"
    )
    if c := plan.contrast:
        yield (
            f"people minus the system {100 * c.difference:+g}; {c.runs} runs, SD "
            f"{100 * c.run_sd:g} (counted from 5 runs on); items' correlation "
            f"{c.correlation:g}; margin {100 * c.margin:g}; comparisons {c.comparisons}. Power is "
            "for ahead and behind, not for as good."
        )
