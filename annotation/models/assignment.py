"""Annotators and their assignments: what one of them does in one batch."""

import secrets
from datetime import datetime
from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from annotation.models import clock
from annotation.models.batch import Batch
from annotation.models.benchmark import Example, Role
from annotation.models.channel import Channel
from annotation.models.constraints import check, once
from annotation.models.study import JoinAnswer, Outcome, Study, new_token

# No vowels and no look-alikes: neither a word nor a misreading.
LETTERS = "BCDFGHJKLMNPQRSTVWXZ23456789"


def random_letters() -> str:
    """28 to the power of 8: whoever guesses is slowed down long before."""
    return "".join(secrets.choice(LETTERS) for _ in range(8))


def new_pseudonym() -> str:
    return random_letters()


class Annotator(models.Model):
    """One person, known by channel and external id.

    The keyed hash finds the person again; the id itself can be erased without losing
    the rule that nobody works on a task twice.
    """

    channel = models.ForeignKey(Channel, on_delete=models.PROTECT, related_name="annotators")
    identity_hash = models.CharField(max_length=64)
    external_id = models.CharField(max_length=200, blank=True)
    pseudonym = models.CharField(max_length=12, unique=True, default=new_pseudonym)
    created_at = clock.WrittenAtField(auto_now_add=True)
    erased_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [once("annotator_once", ["channel", "identity_hash"])]

    def __str__(self) -> str:
        return self.pseudonym


class WorkState(models.TextChoices):
    """Says where an assignment stands; it begins with the consent, so there is none before."""

    # What is read before answering: the task description at step 0, and after the training what
    # is different in the test.
    DESCRIPTION = "description", "description"
    ANSWERING = "answering", "answering"
    REVEALED = "revealed", "revealed"
    FINISHED = "finished", "finished"


class AssignmentQuerySet(models.QuerySet["Assignment"]):
    def open(self) -> Self:
        return self.filter(outcome="")

    def completed(self) -> Self:
        return self.filter(outcome="completed")

    def counted(self) -> Self:
        """Completed and not excluded."""
        return self.completed().filter(exclusion__isnull=True)

    def of_people(self) -> Self:
        return self.filter(annotator__channel__is_simulated=False)

    def asked_here(self) -> Self:
        """People whose work was watched; not those of studies from elsewhere."""
        return self.of_people().filter(study__source="")

    def in_good_order(self) -> Self:
        """Those neither excluded nor flagged."""
        return self.filter(exclusion=None).exclude(summary__is_flagged=True)

    def in_places(self) -> Self:
        """Who fills a study's own places: people, and in a demonstration simulated annotators."""
        return self.filter(
            Q(annotator__channel__is_simulated=False) | Q(study__is_demonstration=True)
        )

    def simulated(self) -> Self:
        return self.filter(annotator__channel__is_simulated=True)


class Assignment(models.Model):
    """One annotator's work on one batch, and how far it has got."""

    annotator = models.ForeignKey(Annotator, on_delete=models.PROTECT, related_name="assignments")
    batch = models.ForeignKey(Batch, on_delete=models.PROTECT, related_name="assignments")
    # Copied from the batch: a constraint can only compare columns of this row.
    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="assignments")
    exposure_key = models.CharField(max_length=64)
    # The latest submission by which the person entered: its status and pay count.
    latest_submission = models.ForeignKey(
        "Submission", on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    # When the platform's time ran out, and with it the place that was held.
    timed_out_at = models.DateTimeField(null=True, blank=True)
    # By this the browser that sent the consent is known again, if its response got lost.
    browser_hash = models.CharField(max_length=64, blank=True, default="", db_index=True)
    resume_token = models.CharField(max_length=40, unique=True, default=new_token)
    # When a researcher last handed out a new resume link, whose receiver only they can know.
    resume_renewed_at = models.DateTimeField("new personal link at", null=True, blank=True)
    order_seed = models.CharField(max_length=32)

    state = models.CharField(
        max_length=11, choices=WorkState.choices, default=WorkState.DESCRIPTION
    )
    # Counts through checks, training and test: 0 … checks − 1, then the training, then the test.
    step = models.PositiveIntegerField(default=0)
    # Empty while open, never null: so the exposure constraint compares plain values. Nobody is
    # given `declined` any more: a few rows have it from before the consent made the assignment.
    outcome = models.CharField(
        max_length=12, choices=[*Outcome.choices, JoinAnswer.choices[0]], blank=True, default=""
    )

    # Expired because the study was closed, not for want of a sign of life.
    ended_by_closing = models.BooleanField(default=False)

    joined_at = models.DateTimeField()
    consented_at = models.DateTimeField(null=True, blank=True)
    # When the present page was shown to the annotator, by the server's clock.
    shown_at = models.DateTimeField(null=True, blank=True)
    seen_at = models.DateTimeField()
    training_ended_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    paid_ms = models.PositiveBigIntegerField(default=0)
    reveal_ms = models.PositiveBigIntegerField(default=0)
    amount = models.DecimalField(max_digits=8, decimal_places=2, null=True, blank=True)
    training_score = models.FloatField(null=True, blank=True)
    # The basis of the one decision at the end of training (annotation/work/qualifying.py).
    screening = models.JSONField(default=dict, blank=True)
    # The same at the end of the checks.
    check_screening = models.JSONField(default=dict, blank=True)

    objects = AssignmentQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [
            once(
                "assignment_exposed_once",
                ["annotator", "exposure_key"],
                condition=~Q(outcome="declined"),
            ),
            once("assignment_one_open_in_study", ["annotator", "study"], condition=Q(outcome="")),
            check(
                "assignment_finished_by_outcome",
                Q(state="finished", outcome__in=[*Outcome.values, JoinAnswer.DECLINED])
                | Q(~Q(state="finished"), outcome=""),
            ),
            check("assignment_state_known", state__in=WorkState.values),
            # Those that ended without it are from before the consent made the assignment.
            check(
                "assignment_works_by_consent", Q(state="finished") | Q(consented_at__isnull=False)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.annotator} in batch {self.batch_id}"

    @property
    def is_finished(self) -> bool:
        return self.state == WorkState.FINISHED

    @property
    def is_simulated(self) -> bool:
        return self.annotator.channel.is_simulated

    @property
    def submission_id(self) -> str:
        return self.latest_submission.submission_id if self.latest_submission else ""

    @property
    def earlier_submission_ids(self) -> list[str]:
        """The ids by which the person entered before the latest one."""
        earlier = (each for each in self.submissions.all() if each.pk != self.latest_submission_id)
        return [submission.submission_id for submission in earlier if submission.submission_id]

    @property
    def is_excluded(self) -> bool:
        return hasattr(self, "exclusion")


class Exposure(models.Model):
    """What a person has seen in an assignment and may see only once, whether as its task or as the
    task of its checks: what one column of the assignment holds, no constraint compares with
    another."""

    annotator = models.ForeignKey(Annotator, on_delete=models.PROTECT, related_name="exposures")
    exposure_key = models.CharField(max_length=64)
    assignment = models.ForeignKey(Assignment, on_delete=models.CASCADE, related_name="exposures")

    class Meta:
        constraints = [once("exposure_once", ["annotator", "exposure_key"])]

    def __str__(self) -> str:
        return f"{self.annotator} has seen {self.exposure_key}"


class DeviceCode(models.Model):
    """A code that lets one more device go on with an assignment: the newest alone, once, and soon.

    What is typed there is kept nowhere, only its keyed hash.
    """

    assignment = models.OneToOneField(
        Assignment, on_delete=models.CASCADE, related_name="device_code"
    )
    code_hash = models.CharField(max_length=64, unique=True)
    expires_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"code for a device of assignment {self.assignment_id}"


class Exclusion(models.Model):
    """A researcher's mark on an assignment: its answers count only "with excluded"."""

    assignment = models.OneToOneField(
        Assignment, on_delete=models.PROTECT, related_name="exclusion"
    )
    reason = models.TextField()
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True
    )
    created_at = clock.WrittenAtField(auto_now_add=True)

    class Meta:
        constraints = [check("exclusion_has_reason", ~Q(reason=""))]

    def __str__(self) -> str:
        return f"exclusion of assignment {self.assignment_id}"


class IdentityKey(models.Model):
    """The one key of this database, by its fingerprint: with another key nobody is found again."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    fingerprint = models.CharField(max_length=64)

    class Meta:
        constraints = [check("identity_key_once", id=1)]

    def __str__(self) -> str:
        return self.fingerprint[:8]


class JoinCount(models.Model):
    """How often a study's join was answered without an assignment: a number, and nobody in it."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="join_counts")
    hour = models.DateTimeField()
    answer = models.CharField(max_length=12, choices=JoinAnswer.choices)
    count = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["study_id", "hour", "answer"]
        constraints = [
            once("join_count_once", ["study", "hour", "answer"]),
            check("join_count_answer_known", answer__in=JoinAnswer.values),
        ]

    def __str__(self) -> str:
        return f"{self.count} {self.answer} at {self.hour:%Y-%m-%d %H:00}"


class PlaceQuerySet(models.QuerySet["Place"]):
    def claimable(self, at: datetime) -> Self:
        """The places that are empty, or held under a lease that has lapsed."""
        return self.filter(kept=False).filter(Q(holder__isnull=True) | Q(lease_until__lt=at))

    def taken(self, at: datetime) -> Self:
        return self.filter(Q(kept=True) | Q(holder__isnull=False, lease_until__gte=at))


class Place(models.Model):
    """One of the wanted places of a batch. A join or a submit takes or renews it by a
    conditional update of this one row, so that two people can never hold it."""

    batch = models.ForeignKey(Batch, on_delete=models.CASCADE, related_name="places")
    number = models.PositiveIntegerField()
    # Simulated annotators have places of their own and never take a person's.
    simulated = models.BooleanField(default=False)
    holder = models.OneToOneField(
        Assignment, on_delete=models.PROTECT, null=True, blank=True, related_name="place"
    )
    lease_until = models.DateTimeField(null=True, blank=True)
    # Finished work keeps its place for good.
    kept = models.BooleanField(default=False)

    objects = PlaceQuerySet.as_manager()

    class Meta:
        ordering = ["batch_id", "simulated", "number"]
        constraints = [
            once("place_once", ["batch", "simulated", "number"]),
            check("place_kept_by_somebody", Q(kept=False) | Q(holder__isnull=False)),
        ]

    def __str__(self) -> str:
        return f"place {self.number} of batch {self.batch_id}"


# The role of a judgement that is none of an item set: sets for checks are training sets.
CHECK = "check"


class JudgementQuerySet(models.QuerySet["Judgement"]):
    def of_checks(self) -> Self:
        return self.filter(role=CHECK)

    def of_training(self) -> Self:
        return self.filter(role="training")

    def of_test(self) -> Self:
        return self.filter(role="test")


class Judgement(models.Model):
    """One submitted answer. Final: the database refuses to change or delete it.

    It has no score: S1 follows from the answer and a scoring version.
    """

    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="judgements")
    example = models.ForeignKey(Example, on_delete=models.PROTECT, related_name="judgements")
    role = models.CharField(max_length=8, choices=[(CHECK, "check"), *Role.choices])
    step = models.PositiveIntegerField()
    answer = models.JSONField(help_text="List of strings; empty for none.")
    spans = models.JSONField(
        default=list, help_text="[segment, start, end] in code points, where pieces were selected."
    )
    options_order = models.JSONField(
        default=list, help_text="Numbers of the options as they were shown; empty: as in the file."
    )
    shown_at = models.DateTimeField()
    submitted_at = models.DateTimeField()
    paid_ms = models.PositiveIntegerField("paid time (ms)")
    # The browser's own account: beside the server's, never instead of it.
    browser_ms = models.PositiveIntegerField("time by the browser (ms)", null=True)
    first_action_ms = models.PositiveIntegerField("first action by the browser (ms)", null=True)
    active_ms = models.PositiveIntegerField("active time by the browser (ms)", null=True)
    pastes = models.PositiveSmallIntegerField(null=True)
    # Characters that came from a keyboard, where a text was asked for; and whether a question that
    # no page shows was answered, where there was one.
    typed = models.PositiveSmallIntegerField(null=True)
    decoy = models.BooleanField(null=True)
    # Whether a browser or an extension translated the page, as far as the page could tell.
    translated = models.BooleanField(null=True)

    objects = JudgementQuerySet.as_manager()

    class Meta:
        ordering = ["assignment_id", "step"]
        constraints = [
            once("judgement_once", ["assignment", "example"]),
            once("judgement_step_once", ["assignment", "step"]),
            check("judgement_shown_first", submitted_at__gte=F("shown_at")),
        ]

    def __str__(self) -> str:
        return f"judgement {self.step} of assignment {self.assignment_id}"


class GivenScore(models.Model):
    """A score that others published without the answer it is of: only of people from elsewhere,
    who have no judgement there. Final as a judgement is; no correction of the gold moves it."""

    assignment = models.ForeignKey(
        Assignment, on_delete=models.PROTECT, related_name="given_scores"
    )
    example = models.ForeignKey(Example, on_delete=models.PROTECT, related_name="+")
    score = models.FloatField()
    # That the answer took; 0 where nobody says.
    seconds = models.FloatField(default=0)

    class Meta:
        constraints = [
            once("given_score_once", ["assignment", "example"]),
            check("given_score_is_a_share", score__gte=0, score__lte=1),
        ]

    def __str__(self) -> str:
        return f"given score of assignment {self.assignment_id}"


class WorkSummary(models.Model):
    """What the judgements of one assignment come to, so that a page about many people need not
    read them all. Made from them alone, and made again when there are more; but whether the person
    deserves a look is as it was found when the study's people were last looked at."""

    assignment = models.OneToOneField(
        Assignment, on_delete=models.CASCADE, primary_key=True, related_name="summary"
    )
    # Where the assignment stood when it was made: since then anything may have come.
    state = models.CharField(max_length=11)
    step = models.PositiveIntegerField()
    median_ms = models.PositiveIntegerField(null=True)
    # Of the test's answers: how many, what share of them are the same one, how many different
    # ones there are, and a hash of all in the order of the examples.
    tested = models.PositiveIntegerField(default=0)
    commonest_share = models.FloatField(default=0)
    distinct = models.PositiveIntegerField(default=0)
    answers_hash = models.CharField(max_length=64, blank=True, db_index=True)
    longest_ms = models.PositiveBigIntegerField(default=0)
    # By sign the evidence that answers are not a person's own, and what it rests on beside them.
    signs = models.JSONField(default=dict)
    signs_state = models.CharField(max_length=200, blank=True)
    is_flagged = models.BooleanField(default=False)

    def __str__(self) -> str:
        return f"summary of assignment {self.assignment_id}"

    @property
    def sign_names(self) -> str:
        return " ".join(sorted(self.signs))


class Comment(models.Model):
    """What somebody wrote to the people who run the study: on an example, or on the whole.

    It changes nothing else, may name test items, and is erased with the person.
    """

    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="comments")
    example = models.ForeignKey(
        Example, on_delete=models.PROTECT, null=True, blank=True, related_name="comments"
    )
    text = models.TextField()
    written_at = models.DateTimeField()

    class Meta:
        ordering = ["-id"]
        constraints = [check("comment_not_empty", ~Q(text=""))]

    def __str__(self) -> str:
        return f"comment {self.pk} on assignment {self.assignment_id}"
