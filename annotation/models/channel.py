"""Channels: where a study's people come from."""

import re
from typing import Self

from django.core.exceptions import ValidationError
from django.db import models

from annotation.models.texts import is_id

# Characters and classes of them, each so many times, and alternatives of these: an expression that
# is matched in a moment, whatever somebody writes into an address.
_ATOM = r"(?:\\[dw.\-]|\[[^\[\]\\^]+\]|[\w\-@.:])"
_TIMES = r"(?:[*+?]|\{\d{1,3}(?:,\d{0,3})?\})"
_ID_FORM = re.compile(rf"{_ATOM}{_TIMES}?(?:\|?{_ATOM}{_TIMES}?)*")
_VARYING = re.compile(r"[*+?]|\{\d+,")
MOST_VARYING = 2
# The short name of the channel of people whom others asked.
ELSEWHERE = "elsewhere"


class ChannelQuerySet(models.QuerySet["Channel"]):
    def of_studies(self) -> Self:
        """Those that a new study may have."""
        return self.filter(is_simulated=False).exclude(slug=ELSEWHERE)


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
    id_form = models.CharField(
        "form of the ids",
        max_length=100,
        blank=True,
        help_text="Regular expression that a person's whole id matches, such as [0-9a-f]{24}: "
        "another id is refused before the consent. Empty takes any text.",
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

    objects = ChannelQuerySet.as_manager()

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    @property
    def pays_itself(self) -> bool:
        """Whether it is a platform, which rewards submissions; bonuses are what is due beyond."""
        return bool(self.submission_param)

    def takes_id(self, external_id: str) -> bool:
        has_form = not self.id_form or re.fullmatch(self.id_form, external_id) is not None
        return has_form and is_id(external_id)

    def completion_link(self, code: str) -> str:
        """The address where a finished annotator goes; empty where the channel has none."""
        return self.completion_url.replace("{code}", code)

    def clean(self) -> None:
        if self.id_form and not _is_id_form(self.id_form):
            sentence = (
                "Write the form of the ids as characters and classes of them, each with how often "
                "it comes: [0-9a-f]{24}, or A-\\d{6}|B-\\d{6}; no groups, and at most two parts "
                "that vary in length."
            )
            raise ValidationError({"id_form": sentence})
        if self.completion_url and "{code}" not in self.completion_url:
            raise ValidationError(
                {"completion_url": "Write {code} where the completion code belongs."}
            )
        if bool(self.signature_param) != bool(self.signature_secret):
            raise ValidationError("A signature needs both its parameter and its secret.")


def _is_id_form(text: str) -> bool:
    """Whether it can be matched in a moment: what repeats a repetition takes for ever."""
    if not _ID_FORM.fullmatch(text) or len(_VARYING.findall(text)) > MOST_VARYING:
        return False
    try:
        re.compile(text)
    except re.error:
        return False
    return True
