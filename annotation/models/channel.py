"""Channels: where a study's people come from."""

from django.core.exceptions import ValidationError
from django.db import models


class Channel(models.Model):
    """Channels are data: a new platform needs no code."""

    slug = models.SlugField("short name", max_length=60, unique=True)
    name = models.CharField(max_length=100)
    person_param = models.CharField(
        "parameter of the person",
        max_length=60,
        blank=True,
        help_text="URL parameter with the person's id. Leave empty to give each browser a new id.",
    )
    study_param = models.CharField("parameter of the study", max_length=60, blank=True)
    submission_param = models.CharField(
        "parameter of the submission",
        max_length=60,
        blank=True,
        help_text="URL parameter with the submission's id, if the platform has one.",
    )
    signature_param = models.CharField(
        "parameter of the signature",
        max_length=60,
        blank=True,
        help_text="URL parameter with the platform's signature, if it signs its links.",
    )
    signature_secret = models.CharField("secret of the signature", max_length=200, blank=True)
    link_query = models.CharField(
        "end of the link",
        max_length=300,
        blank=True,
        help_text="What follows the “?” in the link that a researcher gives the platform.",
    )
    completion_url = models.CharField(
        "completion address",
        max_length=300,
        blank=True,
        help_text="Where a finished annotator goes; {code} stands for the completion code.",
    )
    invited_only = models.BooleanField(
        "invited people only",
        default=False,
        help_text="Personal links only; a study's open link is refused.",
    )
    is_simulated = models.BooleanField("simulated", default=False, editable=False)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    @property
    def pays_itself(self) -> bool:
        """Whether it is a platform, which rewards submissions; bonuses are what is due beyond."""
        return bool(self.submission_param)

    def completion_link(self, code: str) -> str:
        """Where a finished annotator goes; empty where the channel has no such address."""
        return self.completion_url.replace("{code}", code)

    def clean(self) -> None:
        if self.completion_url and "{code}" not in self.completion_url:
            raise ValidationError(
                {"completion_url": "Write {code} where the completion code belongs."}
            )
        if bool(self.signature_param) != bool(self.signature_secret):
            raise ValidationError("A signature needs both its parameter and its secret.")
