from collections.abc import Iterator

import pytest
from pytest_django import Settings

from annotation.models import Batch, ProlificStudy
from tests import make
from tests.annotation.prolific.standin import TOKEN, StandIn, served


@pytest.fixture
def prolific(settings: Settings) -> Iterator[StandIn]:
    with served() as (standin, address):
        settings.PROLIFIC_API = address
        yield standin


@pytest.fixture
def batch() -> Batch:
    return paid_batch(wanted=5)


def paid_batch(*, wanted: int) -> Batch:
    """One for whose codes the platform pays."""
    made = make.running_batch(via="prolific", wanted=wanted, training=1, tests=2)
    made.study.outcome_rules.filter(outcome="completed").update(platform_pays=2)
    made.study.outcome_rules.filter(outcome="screened_out").update(platform_pays="0.20")
    return made


@pytest.fixture
def connection(batch: Batch) -> ProlificStudy:
    return ProlificStudy.objects.create(
        study=batch.study,
        token=TOKEN,
        workspace_id="workspace",
        webhook_secret="hook-secret",
        remote_id="study-7",
    )
