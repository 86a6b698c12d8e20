from collections.abc import Iterator
from functools import cache, partial

import pytest

from scoring.core import people_designs
from scoring.core.power import simulated_chances
from scoring.planning import views
from scoring.planning.plans import make_plan


@pytest.fixture(scope="module")
def quick_plans() -> Iterator[None]:
    """Simulates a quarter of the studies and draws a plan once, for tests of what is done with it;
    `test_designs` and the tests of the core look at its numbers."""
    make_plan.cache_clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(people_designs, "REPLICATES", people_designs.REPLICATES // 4)
        patch.setattr(people_designs, "simulated_chances", partial(simulated_chances, draws=250))
        patch.setattr(views, "_picture", cache(views._picture))
        yield
    make_plan.cache_clear()
