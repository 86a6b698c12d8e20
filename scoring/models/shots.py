"""Numbers of training examples as files and tables write them."""

FULLY_SUPERVISED = "all"
# Episodes differ in their number of training examples: their figure is over all that have any.
FEW = "few"


def shots_label(shots: int | None) -> int | str:
    """Shots as files write them."""
    return FULLY_SUPERVISED if shots is None else shots


def shots_order(shots: int | str | None) -> tuple[float, str]:
    """By number; episodes that have training examples after none, fully supervised last."""
    words = {FEW: 0.5, FULLY_SUPERVISED: float("inf")}
    return words[str(shots)] if shots in words else float(shots or 0), str(shots)
