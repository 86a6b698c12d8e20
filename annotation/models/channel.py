"""Where annotators come from."""

from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext_lazy as _


class Channel(models.Model):
    """Channels are data: a new platform needs no code."""

    slug = models.SlugField(_("short name"), max_length=60, unique=True)
    name = models.CharField(_("name"), max_length=100)
    person_param = models.CharField(
        _("parameter of the person"),
        max_length=60,
        blank=True,
        help_text=_(
            "URL parameter with the person's id. Leave empty to give each browser a new id."
        ),
    )
    study_param = models.CharField(_("parameter of the study"), max_length=60, blank=True)
    submission_param = models.CharField(
        _("parameter of the submission"),
        max_length=60,
        blank=True,
        help_text=_("URL parameter with the submission's id, if the platform has one."),
    )
    signature_param = models.CharField(
        _("parameter of the signature"),
        max_length=60,
        blank=True,
        help_text=_("URL parameter with the platform's signature, if it signs its links."),
    )
    signature_secret = models.CharField(_("secret of the signature"), max_length=200, blank=True)
    link_query = models.CharField(
        _("end of the link"),
        max_length=300,
        blank=True,
        help_text=_("What follows the “?” in the link that a researcher gives the platform."),
    )
    completion_url = models.CharField(
        _("completion address"),
        max_length=300,
        blank=True,
        help_text=_("Where a finished annotator goes; {code} stands for the completion code."),
    )
    invited_only = models.BooleanField(
        _("invited people only"),
        default=False,
        help_text=_("Personal links only; a study's open link is refused."),
    )
    is_simulated = models.BooleanField(_("simulated"), default=False, editable=False)

    class Meta:
        ordering = ["name"]
        verbose_name = _("channel")
        verbose_name_plural = _("channels")

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        if self.completion_url and "{code}" not in self.completion_url:
            raise ValidationError(
                {"completion_url": _("Write {code} where the completion code belongs.")}
            )
        if bool(self.signature_param) != bool(self.signature_secret):
            raise ValidationError(_("A signature needs both its parameter and its secret."))
