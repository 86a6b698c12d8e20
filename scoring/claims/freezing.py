"""Freezing what a study claims, once nobody can answer any more."""

from collections.abc import Iterable
from typing import Any

from django.db import transaction

from annotation.models import HookEvent, Study, clock
from annotation.models.errors import NotReady
from annotation.models.webhook import tell
from scoring.models import FrozenClaims, FrozenRun, Run
from scoring.models.claims import Reason, family_of, latest


@transaction.atomic
def freeze(
    study: Study, *, reason: Reason, fingerprint: str, claims: Any, runs: Iterable[Run]
) -> FrozenClaims:
    """The next version of a study's claims, with the runs that they rest on. Where somebody else
    froze the same meanwhile, or the closing, theirs. Raises NotReady before it is settled."""
    locked = Study.objects.select_for_update().get(pk=study.pk)
    if not locked.is_settled:
        raise NotReady("What a study claims is frozen once it is closed and nobody is at work.")
    former = latest(locked)
    if former and (reason == Reason.CLOSING or former.fingerprint == fingerprint):
        return former
    frozen = FrozenClaims.objects.create(
        study=locked,
        version=former.version + 1 if former else 1,
        reason=reason,
        margin=locked.margin,
        systems=family_of(locked),
        fingerprint=fingerprint,
        claims=claims,
    )
    FrozenRun.objects.bulk_create(FrozenRun(claims=frozen, run=run) for run in runs)
    tell(locked, HookEvent.FROZEN, at=clock.now(), version=frozen.version)
    return frozen
