"""Whom a study tells what happens in it: addresses, and what each is still to be told. It is
written in the transaction of what happened, so none is lost, and none told that did not happen."""

from datetime import datetime
from typing import Any

from django.db import models

from annotation.models import clock
from annotation.models.constraints import check, once
from annotation.models.study import Study


class HookEvent(models.TextChoices):
    FINISHED = "person.finished", "somebody's work ended"
    GIVEN_BACK = "place.given_back", "a place is open again"
    FULL = "study.full", "all places are filled"
    CLOSED = "study.closed", "the study is closed"
    FLAGGED = "person.flagged", "somebody's work needs a look"
    FROZEN = "verdicts.frozen", "the verdicts are frozen"


class Webhook(models.Model):
    """An address, and the secret that signs what it is told: shown once, and kept to sign by."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="webhooks")
    url = models.CharField("address", max_length=500)
    secret = models.CharField(max_length=64)
    made_at = clock.WrittenAtField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            once("webhook_address_once", ["study", "url"]),
            check("webhook_by_https", url__startswith="https://"),
        ]

    def __str__(self) -> str:
        return self.url


class HookCall(models.Model):
    """What one address is told of one event: until it is taken, or given up."""

    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="calls")
    event = models.CharField(max_length=20, choices=HookEvent.choices)
    body = models.JSONField()
    tries = models.PositiveSmallIntegerField(default=0)
    # Nothing once it is over.
    next_at = models.DateTimeField(null=True, db_index=True)
    # The status of the last answer, or why there was none.
    answer = models.CharField(max_length=200, blank=True)
    made_at = clock.WrittenAtField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
        constraints = [check("hook_call_event_known", event__in=HookEvent.values)]

    def __str__(self) -> str:
        return f"{self.event} to {self.webhook_id}"


def tell(study: Study, event: HookEvent, *, at: datetime, **facts: Any) -> None:
    """Have all addresses of a study told, within the transaction that does what they are told. It
    names people by pseudonym, and never holds answers, scores, external ids or comments."""
    # Locked: of two that end at once, the second sees what the first has done.
    hooks = list(Webhook.objects.select_for_update(no_key=True).filter(study=study))
    body = {"event": str(event), "study": study.slug, "at": at.isoformat(), **facts}
    HookCall.objects.bulk_create(
        HookCall(webhook=hook, event=event, body=body, next_at=at) for hook in hooks
    )
