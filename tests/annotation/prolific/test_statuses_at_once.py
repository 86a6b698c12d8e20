from datetime import timedelta

import pytest

from annotation.models import ProlificStudy, Submission
from tests import make
from tests.annotation.prolific.test_statuses import LATER, event, from_now, say, told
from tests.together import at_once


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_events_that_come_at_once_leave_the_latest() -> None:
    batch = make.running_batch(via="prolific")
    make.joined(batch, submission_id="sub-1")
    words = ["RESERVED", "ACTIVE", "AWAITING REVIEW", "APPROVED"]
    for _ in range(20):
        at_once(lambda n: say(batch, words[n], LATER + timedelta(seconds=n)), 4)
        assert Submission.objects.get().status == "APPROVED"
        Submission.objects.update(status="", status_at=None)


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_of_the_same_report_many_times_at_once_one_is_taken() -> None:
    batch = make.running_batch(via="prolific")
    working = make.joined(batch, submission_id="sub-1")
    connection = ProlificStudy.objects.create(study=batch.study, webhook_secret="hook-secret")
    report, sent_at = event(working), from_now()
    answers = at_once(lambda n: told(connection, report, sent_at=sent_at), 4)
    assert answers == [204] * 4
    assert connection.deliveries.count() == 1
