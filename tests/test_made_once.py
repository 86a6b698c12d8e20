import pytest
from pytest_django import DjangoDbBlocker

from annotation.models.frozen import batch_content
from tests import conftest, make
from tests.made_once import made_once


@pytest.mark.django_db
def test_makes_nothing_of_what_rows_of_before_have_left(django_db_blocker: DjangoDbBlocker) -> None:
    make.worked_through(make.running_batch())
    assert batch_content.cache_info().currsize
    with made_once(django_db_blocker, lambda: batch_content.cache_info().currsize) as kept:
        assert kept == 0


@pytest.mark.django_db
def test_fails_a_transactional_test_beside_rows_that_others_share() -> None:
    make.channel()
    with pytest.raises(pytest.fail.Exception, match="a file of its own"):
        conftest.empty_tables()
