"""What a plan rests on, and the designs that follow by the formula: so many people on so many items
each, what they cost, and how wide their interval is."""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import asdict, dataclass, fields, replace
from math import sqrt

from annotation.models import Batch
from annotation.models.benchmark import PART
from annotation.models.errors import BadInput
from annotation.work.estimating import ASSUMED_SECONDS
from scoring.core.people_designs import (
    Aim,
    Costs,
    PeopleDesign,
    expected_width,
    formula_design,
    parts_design,
)
from scoring.core.sample_size import plan_people
from scoring.core.variance import Components

LEAST_ANNOTATORS = 3
LEAST_ITEMS = 20
# Nobody recruits more for one cell: what these cannot reach is out of reach.
MOST_ANNOTATORS = 1_000
MOST_ITEMS = 10_000
LEVEL = 0.95
# The most that scores in [0, 1] can vary.
MOST_VARIANCE, ROUNDING = 0.25, 1e-9


def usual_components(mean: float) -> Components:
    """How right and wrong answers of this mean vary where nobody knows better: 10 points between
    people (374 people in six tasks differed by 9 to 17), fewer near 0 and 1; items as in those."""
    total = mean * (1 - mean)
    people, items = min(0.01, total / 10), total**2
    return Components(people, items, total - people - items)


USUAL_MEAN = 0.8
USUAL = usual_components(USUAL_MEAN)


@dataclass(frozen=True)
class Assumptions:
    """What a plan rests on. Times in seconds, the fee as a share on top, variances and mean on the
    scale of scores in [0, 1]; shots are training items, and over the splits (or episodes) people
    are only spread. By default a usual crowd that scores 80, on short texts."""

    rate: float = 12.0
    fee: float = 0.0
    onboarding_s: float = 300.0
    shots: int = 30
    train_s: float = ASSUMED_SECONDS
    item_s: float = ASSUMED_SECONDS
    max_items: int = 200
    annotator_var: float = USUAL.annotator
    item_var: float = USUAL.item
    residual_var: float = USUAL.residual
    estimand: str = "new_items"
    splits: int = 1
    # People of each item, where the test set is handed out in parts.
    viewers: int | None = None
    # None: what right-or-wrong scores with these variances average, above one half.
    mean: float | None = None
    currency: str = "USD"

    def __post_init__(self) -> None:
        if self.max_items > MOST_ITEMS:
            raise BadInput(f"A plan is for at most {MOST_ITEMS} items: give fewer.")
        most = MOST_VARIANCE if self.mean is None else self.mean * (1 - self.mean)
        mean = "" if self.mean is None else f" that average {100 * self.mean:g}"
        if self.annotator_var > most:
            points = 100 * sqrt(most)
            raise BadInput(f"People with scores{mean} differ by at most {points:.1f} points.")
        if not self.variance <= most + ROUNDING:
            raise BadInput(
                f"Scores{mean} vary by at most {most:.4g}; annotators, items and rest add up to "
                f"{self.variance:.4g}: give less."
            )
        if self.annotator_var + self.item_var >= self.expected_mean * (1 - self.expected_mean):
            raise BadInput(
                "Annotators and items vary by so much that nothing is left to chance: give less."
            )

    @property
    def costs(self) -> Costs:
        return Costs(**{field.name: getattr(self, field.name) for field in fields(Costs)})

    @property
    def components(self) -> Components:
        return Components(self.annotator_var, self.item_var, self.residual_var)

    @property
    def variance(self) -> float:
        return self.annotator_var + self.item_var + self.residual_var

    @property
    def expected_mean(self) -> float:
        """One half, the widest, where scores vary by more than right or wrong allow."""
        right_or_wrong = (1 + sqrt(max(0.0, 1 - self.variance / MOST_VARIANCE))) / 2
        return right_or_wrong if self.mean is None else self.mean

    @property
    def is_right_or_wrong(self) -> bool:
        """Whether the scores vary about as much as scores of 0 and 1 with this mean."""
        total = self.expected_mean * (1 - self.expected_mean)
        return abs(self.variance - total) <= 0.05 * total

    @property
    def aim(self) -> Aim:
        return Aim(self.estimand, self.max_items, LEVEL)

    @property
    def least_items(self) -> int:
        return min(LEAST_ITEMS, self.max_items)

    @property
    def least_annotators(self) -> int:
        return max(LEAST_ANNOTATORS, self.splits)


def design_of(
    assumptions: Assumptions, annotators: int, items: int, viewers: int | None = None
) -> PeopleDesign:
    """What so many people on so many items each give; viewers: of an item, of a set in parts."""
    a = assumptions
    if viewers:
        return parts_design(annotators, items, viewers, a.costs, a.components, a.aim)
    return _with_cell_width(a, formula_design(annotators, items, a.costs, a.components, a.aim))


def size_of(
    batches: Sequence[Batch], people: Sequence[int], contexts: Sequence[Set[str]]
) -> tuple[int, int, int | None]:
    """The size of a cell, by the people and the contexts of each batch: the contexts of one person
    (least, unless they meet different parts), the splits, and about how many people have each, of
    parts. A sample that all are asked is no part."""
    sets = {batch.test_set for batch in batches}
    sizes = list(map(len, contexts))
    if len(sets) == 1 or not all(PART in item_set.name for item_set in sets):
        return min(sizes), len(batches), None
    answers = sum(n * size for n, size in zip(people, sizes, strict=True))
    viewers = round(answers / len(set().union(*contexts)))
    return max(sizes), len({batch.training_set_id for batch in batches}), viewers


def _with_cell_width(a: Assumptions, design: PeopleDesign) -> PeopleDesign:
    return replace(design, width=expected_width(design, a.components, a.aim, a.expected_mean))


def designs_within(assumptions: Assumptions, budget: float) -> list[PeopleDesign]:
    a = assumptions
    known = asdict(a)
    for name in ("mean", "currency", "splits"):
        del known[name]
    designs = plan_people(
        **known,
        budget=min(budget, a.costs.of(MOST_ANNOTATORS, a.max_items)),
        min_annotators=a.least_annotators,
        min_items=LEAST_ITEMS,
    )
    if a.viewers:
        return list(designs)
    of_cells = [_with_cell_width(a, design) for design in designs]
    return sorted(of_cells, key=lambda design: design.width)


def designs_of_width(assumptions: Assumptions, width: float) -> list[PeopleDesign]:
    """Find for each number of annotators the fewest items that reach the width, cheapest first."""
    if width <= 0:
        raise ValueError("the width must be above 0.")
    narrowest = design_of(assumptions, MOST_ANNOTATORS, assumptions.max_items).width
    if narrowest > width:
        raise BadInput(
            f"{MOST_ANNOTATORS} annotators on {assumptions.max_items} items each still give an "
            f"interval {100 * narrowest:.1f} points wide: ask for a wider one, or for more items."
        )
    return reaching(
        assumptions,
        assumptions.least_annotators,
        lambda n, m: design_of(assumptions, n, m).width <= width,
        # Nothing cheaper can follow; the frontier continues a little for the eye.
        dearer=3,
    )


def reaching(
    assumptions: Assumptions, fewest: int, reaches: Callable[[int, int], bool], *, dearer: float = 1
) -> list[PeopleDesign]:
    """Find for each number of annotators the fewest items that do, cheapest first; none of which
    the people alone cost so many times as much as the cheapest."""
    designs: list[PeopleDesign] = []
    cheapest = float("inf")
    for annotators in range(fewest, MOST_ANNOTATORS + 1):
        if assumptions.costs.of(annotators, assumptions.least_items) > dearer * cheapest:
            break
        if items := _fewest_items(assumptions, annotators, reaches):
            designs.append(design_of(assumptions, annotators, items))
            cheapest = min(cheapest, designs[-1].cost)
    return sorted(designs, key=lambda design: design.cost)


def _fewest_items(
    assumptions: Assumptions, annotators: int, reaches: Callable[[int, int], bool]
) -> int | None:
    least, most = assumptions.least_items, assumptions.max_items
    if not reaches(annotators, most):
        return None
    fewer = range(least, most)
    return least + bisect_left(fewer, True, key=lambda items: reaches(annotators, items))


def some_within(assumptions: Assumptions, budget: float) -> Iterator[PeopleDesign]:
    """Every number of annotators at first, then ever fewer of them."""
    if assumptions.viewers:
        yield from designs_within(assumptions, budget)
        return
    annotators = assumptions.least_annotators
    while annotators <= MOST_ANNOTATORS:
        items = min(assumptions.max_items, assumptions.costs.most_items(annotators, budget))
        if items < assumptions.least_items:
            return
        yield design_of(assumptions, annotators, items)
        annotators += max(1, annotators // 8)
