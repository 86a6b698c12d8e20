"""The planner's numbers: what each is called, where its slider begins and ends, and its limits."""

from dataclasses import dataclass

from django_stubs_ext import StrOrPromise

from scoring.planning.assumptions import MOST_ITEMS


@dataclass(frozen=True)
class Typical:
    """A value to choose where nothing is known."""

    value: float
    name: StrOrPromise


@dataclass(frozen=True)
class Slider:
    """A number with its slider; the number may go beyond the slider's ends."""

    label: StrOrPromise
    initial: float | None
    least: float
    most: float
    step: float = 1
    unit: StrOrPromise = ""
    help_text: StrOrPromise = ""
    typical: tuple[Typical, ...] = ()


AIM: dict[str, Slider] = {
    "budget": Slider("Budget", 60, 5, 2000, 5),
    "width": Slider("Width of the interval", 12, 2, 50, 0.5, "points"),
}
MONEY: dict[str, Slider] = {
    "rate": Slider("Hourly rate", 12, 1, 60, 0.5),
    "fee": Slider("Platform fee on top", 0, 0, 100, 1, "%"),
    "batches": Slider("Batches", 1, 1, 180, 1, "", "Splits or episodes, each with its own people."),
}
TIMES: dict[str, Slider] = {
    "onboarding_s": Slider("Before the first item", 300, 0, 1800, 10, "s"),
    "shots": Slider("Training items", 30, 0, 60),
    "train_s": Slider("A training item, with its answer", 12, 1, 180, 1, "s"),
    "item_s": Slider("A test item", 8, 1, 180, 1, "s"),
    "max_items": Slider("Items in the test set", 200, 2, 1000),
}
SPREAD: dict[str, Slider] = {
    "mean": Slider(
        "What people score on average",
        80,
        0,
        100,
        0.5,
        "%",
        typical=(
            Typical(70, "a hard task"),
            Typical(80, "a usual one"),
            Typical(95, "an easy one"),
        ),
    ),
    "annotator_sd": Slider(
        "How much people differ",
        4,
        0,
        20,
        0.1,
        "points",
        "The SD of their scores on very long tests.",
        typical=(
            Typical(2, "trained, much alike"),
            Typical(4, "a usual crowd"),
            Typical(8, "a mixed crowd"),
        ),
    ),
    "item_share": Slider(
        "How much of the rest lies in the items",
        45,
        0,
        100,
        1,
        "%",
        "At 100 % the same items are wrong for everybody, at 0 % every error is a slip.",
        typical=(
            Typical(25, "mostly slips"),
            Typical(45, "usual"),
            Typical(70, "some items are hard for all"),
        ),
    ),
    "answer_sd": Slider(
        "SD of a single answer",
        None,
        0,
        50,
        0.1,
        "points",
        "Leave it empty where answers are right or wrong; partly right ones vary less.",
    ),
}
CONTRAST: dict[str, Slider] = {
    "difference": Slider("A difference to show", 5, 0, 30, 0.5, "points"),
    "runs": Slider("Runs of the system", 1, 1, 10),
}
LEAST = {
    "rate": 0.01,
    "item_s": 0.1,
    "budget": 0.01,
    "width": 0.1,
    "batches": 1,
    "runs": 1,
    "max_items": 2,
}
# Beyond these nobody plans, and the formulas would take long or overflow.
MOST = {
    "budget": 10_000_000,
    "width": 100,
    "rate": 10_000,
    "fee": 1_000,
    "batches": 10_000,
    **dict.fromkeys(["onboarding_s", "train_s", "item_s"], 24 * 60 * 60),
    "shots": 10_000,
    "max_items": MOST_ITEMS,
    **dict.fromkeys(["mean", "annotator_sd", "item_share", "answer_sd", "difference"], 100),
    "runs": 1_000,
}
WHOLE = frozenset({"batches", "shots", "max_items", "runs"})
