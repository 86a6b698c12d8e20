import pytest

from annotation.models import Batch
from annotation.models.errors import BadInput
from annotation.studies.drafting import copy_study
from annotation.studies.lifecycle import start_study
from tests import make

pytestmark = pytest.mark.django_db


@pytest.fixture
def batch() -> Batch:
    return make.running_batch(wanted=5, max_drop=12.5, contact="ann@example.org")


def test_makes_a_draft_with_the_same_rules_and_batches(batch: Batch) -> None:
    copy = copy_study(batch.study, slug="again")
    assert (copy.state, copy.started_at, copy.frozen) == ("draft", None, {})
    assert (copy.max_drop, copy.contact) == (12.5, "ann@example.org")
    assert copy.consent_text == batch.study.consent_text
    (copied,) = copy.batches.all()
    assert (copied.task, copied.training_set, copied.test_set, copied.wanted) == (
        batch.task,
        batch.training_set,
        batch.test_set,
        5,
    )
    assert (copied.gold_version, copied.places.count()) == (None, 0)


def test_shares_no_link_no_code_and_no_seed(batch: Batch) -> None:
    copy = copy_study(batch.study, slug="again")
    assert copy.join_token != batch.study.join_token
    assert copy.seed != batch.study.seed
    assert copy.batches.get().join_token != batch.join_token
    codes = set(batch.study.outcome_rules.values_list("code", flat=True))
    assert not codes & set(copy.outcome_rules.values_list("code", flat=True))


def test_makes_a_study_that_can_start(batch: Batch) -> None:
    copy = copy_study(batch.study, slug="again")
    start_study(copy, at=make.NOON)
    assert copy.is_open


def test_keeps_what_the_outcomes_pay(batch: Batch) -> None:
    batch.study.outcome_rules.filter(outcome="full").update(minimum="0.25")
    copy = copy_study(batch.study, slug="again")
    fields = ("outcome", "pays_time", "minimum")
    assert list(copy.outcome_rules.values_list(*fields)) == list(
        batch.study.outcome_rules.values_list(*fields)
    )


def test_refuses_a_name_that_is_taken(batch: Batch) -> None:
    with pytest.raises(BadInput, match="already"):
        copy_study(batch.study, slug=batch.study.slug)
