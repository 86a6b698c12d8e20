import pytest

from tests.scoring.comparison.test_claims import correct, measured_study, seen
from tests.together import at_once


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_two_readers_at_once_freeze_one_version() -> None:
    study = measured_study()
    found = at_once(lambda _: seen(study).versions, 3)
    assert [len(versions) for versions in found] == [1, 1, 1]
    correct(study)
    at_once(lambda _: seen(study).versions, 3)
    assert [one.reason for one in seen(study).versions] == ["closing", "gold correction"]
