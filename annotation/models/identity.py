"""Which key the hashes of identities were made with."""

from django.db import models
from django.db.models import Q


class IdentityKey(models.Model):
    """The one key of this database, by its fingerprint: with another key nobody is found again."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    fingerprint = models.CharField(max_length=64)

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(id=1), name="identity_key_once")]

    def __str__(self) -> str:
        return self.fingerprint[:8]
