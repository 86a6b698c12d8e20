from collections.abc import Iterator
from functools import partial

import pytest

from scoring.core import people_designs
from scoring.core.power import simulated_chances
from scoring.planning.plans import make_plan


@pytest.fixture(scope="module")
def fewer_simulated_studies() -> Iterator[None]:
    """A quarter of them, for tests of what is done with a plan; `test_designs` and the tests of the
    core look at its numbers."""
    make_plan.cache_clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(people_designs, "REPLICATES", people_designs.REPLICATES // 4)
        patch.setattr(people_designs, "simulated_chances", partial(simulated_chances, draws=250))
        yield
    make_plan.cache_clear()
