"""What a plan rests on, and the difference that its study should show."""

from dataclasses import asdict, dataclass
from functools import cached_property
from math import sqrt

from annotation.models.errors import BadInput
from scoring.core.people_designs import Aim, Costs
from scoring.core.variance import Components

LEAST_ANNOTATORS = 3
LEAST_ITEMS = 20
# Nobody recruits more for one cell: what these cannot reach is out of reach.
MOST_ANNOTATORS = 1_000
MOST_ITEMS = 10_000
LEVEL = 0.95
# The most that scores in [0, 1] can vary.
MOST_VARIANCE = 0.25


@dataclass(frozen=True)
class Assumptions:
    """What a plan rests on. Times in seconds, the fee as a share on top, variances on the scale
    of scores in [0, 1], as is the mean; shots are training items, batches the splits or episodes of
    a cell.

    The defaults: a crowd that scores 80 on average, with 4 points between annotators, on short
    texts.
    """

    rate: float = 12.0
    fee: float = 0.0
    onboarding_s: float = 300.0
    shots: int = 30
    train_s: float = 12.0
    item_s: float = 8.0
    max_items: int = 200
    annotator_var: float = 0.0016
    item_var: float = 0.072
    residual_var: float = 0.0864
    estimand: str = "new_items"
    batches: int = 1
    # None: what right-or-wrong scores with these variances average, above one half.
    mean: float | None = None
    currency: str = "USD"

    def __post_init__(self) -> None:
        if self.max_items > MOST_ITEMS:
            raise BadInput(f"A plan is for at most {MOST_ITEMS} items: give fewer.")

    @property
    def costs(self) -> Costs:
        return Costs(
            rate=self.rate,
            onboarding_s=self.onboarding_s,
            shots=self.shots,
            train_s=self.train_s,
            item_s=self.item_s,
            fee=self.fee,
            batches=self.batches,
        )

    @property
    def components(self) -> Components:
        return Components(self.annotator_var, self.item_var, self.residual_var)

    @cached_property
    def expected_mean(self) -> float:
        """Scores that vary by more than right or wrong allow have no such mean: one half is
        widest."""
        varies = sum(asdict(self.components).values())
        right_or_wrong = (1 + sqrt(max(0.0, 1 - varies / MOST_VARIANCE))) / 2
        return right_or_wrong if self.mean is None else self.mean

    @property
    def is_right_or_wrong(self) -> bool:
        """Whether the scores vary about as much as scores of 0 and 1 with this mean."""
        total = self.expected_mean * (1 - self.expected_mean)
        parts = self.components
        return abs(parts.annotator + parts.item + parts.residual - total) <= 0.05 * total

    @property
    def aim(self) -> Aim:
        return Aim(self.estimand, self.max_items, LEVEL)

    @property
    def least_items(self) -> int:
        return min(LEAST_ITEMS, self.max_items)


@dataclass(frozen=True)
class Contrast:
    """A difference from a system that the study should show, in [0, 1], and how the system's
    scores vary. None: as people's do, sharing half of what makes an item hard."""

    difference: float
    runs: int = 1
    run_var: float = 0.0004
    run_residual_var: float | None = None
    item_difference_var: float | None = None
