import pytest

from annotation.models import JoinAnswer, Outcome, OutcomeRule, Study
from annotation.studies.codes import add_missing_codes
from tests import make

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    study = make.study(make.benchmark())
    study.outcome_rules.all().delete()
    return study


def test_gives_every_outcome_a_code_of_its_own(study: Study) -> None:
    rules = add_missing_codes(study)
    assert {rule.outcome for rule in rules} == {*Outcome.values, *JoinAnswer.values}
    assert len({rule.code for rule in rules}) == 7


def test_pays_everybody_who_worked(study: Study) -> None:
    add_missing_codes(study)
    unpaid = study.outcome_rules.filter(pays_time=False)
    assert set(unpaid.values_list("outcome", flat=True)) == {"declined", "full"}


def test_leaves_existing_codes_alone(study: Study) -> None:
    OutcomeRule.objects.create(study=study, outcome="full", code="MINE")
    add_missing_codes(study)
    add_missing_codes(study)
    assert study.outcome_rules.get(outcome="full").code == "MINE"
    assert study.outcome_rules.count() == 7
