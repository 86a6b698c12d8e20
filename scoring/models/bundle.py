"""Studies of other groups, as their bundles show them."""

from typing import Self

from django.conf import settings
from django.contrib.auth.models import User
from django.db import models
from django.db.models import Q

from annotation.access.rights import is_all_powerful


class ImportedStudyQuerySet(models.QuerySet["ImportedStudy"]):
    def visible_to(self, user: User) -> Self:
        """One's own; what nobody owns is the superusers'."""
        return self if is_all_powerful(user) else self.filter(owner=user)


class ImportedStudy(models.Model):
    """What a verified bundle says, read-only. It refers to nothing that was measured here."""

    slug = models.CharField("short name", max_length=80)
    title = models.CharField(max_length=200)
    benchmark = models.CharField(max_length=80)
    checksum = models.CharField(max_length=64)
    about = models.JSONField()
    figures = models.JSONField()
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="+",
    )
    imported_at = models.DateTimeField(auto_now_add=True)

    objects = ImportedStudyQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        verbose_name = "imported study"
        verbose_name_plural = "imported studies"
        constraints = [
            models.UniqueConstraint(fields=["owner", "checksum"], name="imported_study_once"),
            # Null differs from null.
            models.UniqueConstraint(
                fields=["checksum"],
                condition=Q(owner__isnull=True),
                name="imported_study_of_nobody_once",
            ),
        ]

    def __str__(self) -> str:
        return self.title
