"""Long work as a row: the broker only wakes a worker, the row is what survives."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _


class JobState(models.TextChoices):
    QUEUED = "queued", _("queued")
    RUNNING = "running", _("running")
    DONE = "done", _("done")
    FAILED = "failed", _("failed")
    CANCELLED = "cancelled", _("cancelled")


class Upload(models.Model):
    """A job's file. In the database, since the worker may run on another machine."""

    name = models.CharField(max_length=300)
    data = models.BinaryField()
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.name


class Job(models.Model):
    kind = models.CharField(_("kind"), max_length=60)
    arguments = models.JSONField(_("arguments"), default=dict)
    upload = models.ForeignKey(
        Upload, on_delete=models.SET_NULL, null=True, blank=True, verbose_name=_("upload")
    )
    state = models.CharField(
        _("state"), max_length=9, choices=JobState.choices, default=JobState.QUEUED
    )
    progress = models.PositiveIntegerField(_("progress"), default=0)
    total = models.PositiveIntegerField(_("total"), default=0)
    message = models.TextField(_("message"), blank=True)
    result = models.JSONField(_("result"), default=dict, blank=True)
    attempt = models.PositiveIntegerField(_("attempt"), default=0)
    cancel_requested = models.BooleanField(_("to be cancelled"), default=False)
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        verbose_name=_("author"),
    )
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    heartbeat_at = models.DateTimeField(_("last sign of life"), null=True, blank=True)
    finished_at = models.DateTimeField(_("finished at"), null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        verbose_name = _("job")
        verbose_name_plural = _("jobs")
        constraints = [
            models.CheckConstraint(condition=Q(state__in=JobState.values), name="job_state_known")
        ]

    def __str__(self) -> str:
        return f"{self.kind} #{self.pk}"

    @property
    def is_over(self) -> bool:
        return self.state in (JobState.DONE, JobState.FAILED, JobState.CANCELLED)


class JobFile(models.Model):
    """What a job has made, to be fetched: compressed by gzip. In the database, as an upload is."""

    job = models.OneToOneField(Job, on_delete=models.CASCADE, related_name="file")
    name = models.CharField(max_length=300)
    data = models.BinaryField()
    created_at = models.DateTimeField(auto_now=True)

    def __str__(self) -> str:
        return self.name
