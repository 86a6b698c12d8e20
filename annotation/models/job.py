"""Long work as a row: the broker only wakes a worker, the row is what survives."""

from datetime import timedelta

from django.conf import settings
from django.db import models

from annotation.models import clock
from annotation.models.constraints import check


class JobState(models.TextChoices):
    QUEUED = "queued", "queued"
    RUNNING = "running", "running"
    DONE = "done", "done"
    FAILED = "failed", "failed"
    CANCELLED = "cancelled", "cancelled"


# A worker with nothing else to do takes a job within seconds.
SOON = timedelta(seconds=30)
OVER = (JobState.DONE, JobState.FAILED, JobState.CANCELLED)


class Upload(models.Model):
    """A job's file. In the database, since the worker may run on another machine."""

    name = models.CharField(max_length=300)
    data = models.BinaryField()
    created_at = clock.WrittenAtField(auto_now_add=True)

    def __str__(self) -> str:
        return self.name


class Job(models.Model):
    kind = models.CharField(max_length=60)
    arguments = models.JSONField(default=dict)
    upload = models.ForeignKey(Upload, on_delete=models.SET_NULL, null=True, blank=True)
    state = models.CharField(max_length=9, choices=JobState.choices, default=JobState.QUEUED)
    progress = models.PositiveIntegerField(default=0)
    total = models.PositiveIntegerField(default=0)
    message = models.TextField(blank=True)
    result = models.JSONField(default=dict, blank=True)
    attempt = models.PositiveIntegerField(default=0)
    cancel_requested = models.BooleanField("to be cancelled", default=False)
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True
    )
    created_at = clock.WrittenAtField(auto_now_add=True)
    heartbeat_at = models.DateTimeField("last active", null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        constraints = [check("job_state_known", state__in=JobState.values)]

    def __str__(self) -> str:
        return f"{self.kind} #{self.pk}"

    @property
    def is_over(self) -> bool:
        return self.state in OVER

    @property
    def is_left_lying(self) -> bool:
        return self.state == JobState.QUEUED and clock.now() > self.created_at + SOON


class JobFile(models.Model):
    """What a job has made, to be fetched: compressed by gzip. In the database, as an upload is."""

    job = models.OneToOneField(Job, on_delete=models.CASCADE, related_name="file")
    name = models.CharField(max_length=300)
    data = models.BinaryField()
    created_at = clock.WrittenAtField(auto_now=True)

    def __str__(self) -> str:
        return self.name
