"""Whose a study or a benchmark is: its members, and the log of what they changed."""

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db import models
from django.utils.text import Truncator

from annotation.models import clock
from annotation.models.benchmark import Benchmark
from annotation.models.constraints import check, once, one_of
from annotation.models.study import Study


class MemberRole(models.TextChoices):
    """What a member may do with the study or benchmark: see annotation/access/rights.py."""

    OWNER = "owner", "owner"
    EDITOR = "editor", "editor"
    VIEWER = "viewer", "viewer"


# The roles that set a study or a benchmark up.
SETS_UP = (MemberRole.OWNER, MemberRole.EDITOR)


class Membership(models.Model):
    """A person's role in one study or one benchmark."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships"
    )
    study = models.ForeignKey(
        Study, on_delete=models.CASCADE, null=True, blank=True, related_name="memberships"
    )
    benchmark = models.ForeignKey(
        Benchmark, on_delete=models.CASCADE, null=True, blank=True, related_name="memberships"
    )
    role = models.CharField(max_length=6, choices=MemberRole.choices)

    class Meta:
        ordering = ["user__username", "id"]
        constraints = [
            one_of("membership_of_one", "study", "benchmark"),
            # Null differs from null, so each of the two binds only the rows it concerns.
            once("membership_in_study_once", ["user", "study"]),
            once("membership_in_benchmark_once", ["user", "benchmark"]),
            check("membership_role_known", role__in=MemberRole.values),
        ]

    def __str__(self) -> str:
        return f"{self.user}: {self.role} of {self.study or self.benchmark}"


class MemberLink(models.Model):
    """Lets one colleague in, with a role. The token itself is shown once, and kept nowhere."""

    study = models.ForeignKey(
        Study, on_delete=models.CASCADE, null=True, related_name="member_links"
    )
    benchmark = models.ForeignKey(
        Benchmark, on_delete=models.CASCADE, null=True, related_name="member_links"
    )
    role = models.CharField(max_length=6, choices=MemberRole.choices)
    token_hash = models.CharField(max_length=64, unique=True)
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+"
    )
    expires_at = models.DateTimeField()

    class Meta:
        ordering = ["id"]
        constraints = [
            one_of("member_link_of_one", "study", "benchmark"),
            check("member_link_role_known", role__in=MemberRole.values),
        ]

    def __str__(self) -> str:
        return f"{self.role} of {self.study or self.benchmark}"

    @property
    def thing(self) -> Study | Benchmark:
        thing = self.study or self.benchmark
        if thing is None:
            raise AssertionError("A link leads to a study or a benchmark, by constraint.")
        return thing


class ApiToken(models.Model):
    """Lets a program act for somebody. The token itself is shown once, and kept nowhere."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="tokens"
    )
    name = models.CharField(max_length=60)
    may_write = models.BooleanField(default=False)
    may_pay = models.BooleanField(default=False)
    token_hash = models.CharField(max_length=64, unique=True)
    made_at = clock.WrittenAtField(auto_now_add=True)
    expires_at = models.DateTimeField()

    class Meta:
        ordering = ["id"]
        constraints = [once("token_named_once", ["user", "name"])]

    def __str__(self) -> str:
        return self.name


class ChangeAction(models.TextChoices):
    RIGHTS = "rights", "rights changed"
    MEMBER_LINK = "member_link", "link for a colleague"
    STARTED = "started", "started"
    PAUSED = "paused", "paused"
    RESUMED = "resumed", "resumed"
    CLOSED = "closed", "closed"
    EXCLUDED = "excluded", "assignment excluded"
    EXCLUSION_LIFTED = "exclusion_lifted", "exclusion lifted"
    ERASED = "erased", "identity erased"
    RESUME_LINK = "resume_link", "new resume link"
    GOLD_CORRECTED = "gold_corrected", "gold corrected"
    PLACE_RELEASED = "place_released", "place released"
    PAY_APPROVED = "pay_approved", "payments approved"
    PAY_CORRECTED = "pay_corrected", "payment corrected"
    PAY_SENT = "pay_sent", "bonuses marked as sent"
    PAY_EXPORTED = "pay_exported", "payments exported"
    PLATFORM = "platform", "connection to the platform changed"
    SETTINGS = "settings", "settings changed"
    BATCHES = "batches", "batches changed"
    OUTCOMES = "outcomes", "rules of outcomes changed"
    PLACES = "places", "more places"
    COPIED = "copied", "copied"
    ARCHIVED = "archived", "archived"
    TAKEN_OUT = "taken_out", "taken out of the archive"
    IDS_EXPORTED = "ids_exported", "external ids exported"
    BUNDLE_EXPORTED = "bundle_exported", "bundle exported"


class Change(models.Model):
    """One change, as its study's or benchmark's editors may read it later.

    It names people by pseudonym or user name, and never holds gold, external ids, secrets or
    comments.
    """

    study = models.ForeignKey(
        Study, on_delete=models.CASCADE, null=True, blank=True, related_name="changes"
    )
    benchmark = models.ForeignKey(
        Benchmark, on_delete=models.CASCADE, null=True, blank=True, related_name="changes"
    )
    # Nobody: a command.
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    # By which of the user's tokens, if by a program.
    token = models.CharField(max_length=60, blank=True)
    action = models.CharField(max_length=16, choices=ChangeAction.choices)
    before = models.JSONField(default=dict)
    after = models.JSONField(default=dict)
    at = clock.WrittenAtField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            one_of("change_of_one", "study", "benchmark"),
            check("change_action_known", action__in=ChangeAction.values),
        ]

    def __str__(self) -> str:
        return f"{self.study or self.benchmark}: {self.get_action_display()}"

    def details(self) -> list[tuple[str, Any, Any]]:
        names = [*self.before, *(name for name in self.after if name not in self.before)]
        return [(name, self.before.get(name, "–"), self.after.get(name, "–")) for name in names]


def record(
    user: AbstractBaseUser | AnonymousUser | None,
    thing: Study | Benchmark,
    action: ChangeAction,
    before: dict[str, Any],
    after: dict[str, Any],
) -> Change:
    """Log a change, within the transaction that makes it. No user: a command.

    Never pass gold, external ids, secrets or comments.
    """
    of, by = {str(thing._meta.model_name): thing}, user.pk if user else None
    token = str(getattr(user, "token", ""))
    return Change.objects.create(
        **of, user_id=by, token=token, action=action, before=before, after=after
    )


# So many characters of a setting are kept in the log.
LOGGED = 120


def record_settings(
    user: AbstractBaseUser | AnonymousUser | None,
    thing: Study | Benchmark,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
) -> None:
    """Log settings that were changed, if any; of a long text its beginning."""
    if after:
        was, now = ({name: _logged(one[name]) for name in one} for one in (before, after))
        record(user, thing, ChangeAction.SETTINGS, was, now)


def _logged(value: Any) -> str:
    return Truncator("; ".join(value) if isinstance(value, list) else value).chars(LOGGED)
