"""Bonuses by Prolific's API, whose paying is not idempotent: asked twice, it pays twice.

So the lines are written before the one call that pays, and that call is made once. If its answer is
lost, the lines stand as sent until a person has looked on Prolific and says what became of them.
"""

from datetime import datetime

from django.contrib.auth.models import User

from annotation.models import Payout, PayoutState, PayoutWay, ProlificStudy
from annotation.models.errors import BadInput
from annotation.payments.exporting import prolific_lines
from annotation.payments.ledger import Changed, open_bonuses, settle_payout, write_payout
from annotation.prolific.client import Declined, Lost
from annotation.prolific.connecting import client_of


def pay_bonuses(
    connection: ProlificStudy, *, digest: str, at: datetime, by: User | None = None
) -> Payout:
    """Pay what the digest names. Raises Changed, Declined or BadInput with nothing sent; a lost
    answer gives a payout whose state is unknown."""
    client = client_of(connection)
    if not connection.remote_id:
        raise BadInput("The study is not on Prolific yet: make the draft first.")
    bonuses = open_bonuses(connection.study)
    if not bonuses.dues:
        raise BadInput("No approved bonus is waiting: there is nothing to send.")
    if bonuses.digest != digest:
        raise Changed("The payments have changed since this page was shown: look again.")
    lines = "".join(prolific_lines(bonuses.dues)).strip()
    # Set up only: if its answer is lost, nobody is paid.
    remote_id = client.set_up_bonuses(connection.remote_id, lines)
    payout = write_payout(
        connection.study, digest=digest, way=PayoutWay.API, at=at, by=by, remote_id=remote_id
    )
    try:
        client.pay_bonuses(remote_id)
    except Declined:
        settle_payout(payout, was_sent=False, at=at, by=by)
        raise
    except Lost:
        Payout.objects.filter(pk=payout.pk, state=PayoutState.SENDING).update(
            state=PayoutState.UNKNOWN
        )
        payout.refresh_from_db()
        return payout
    settle_payout(payout, was_sent=True, at=at, by=by)
    return payout
