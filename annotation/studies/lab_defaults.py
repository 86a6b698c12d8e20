"""What a new study begins with: what whoever makes it keeps as the defaults of their lab."""

from typing import Any

from django.contrib.auth.models import User

from annotation.models import LabDefaults, Study
from annotation.models.study import LabSettings

KEPT = tuple(field.name for field in LabSettings._meta.fields)


def lab_defaults(user: User | None) -> dict[str, Any]:
    """What somebody's new studies begin with, by column; empty for who keeps none, and for
    nobody."""
    return LabDefaults.objects.filter(user=user).values(*KEPT).first() or {}


def keep_as_defaults(study: Study, *, by: User) -> None:
    said = {name: getattr(study, name) for name in KEPT}
    LabDefaults.objects.update_or_create(user=by, defaults=said)
