"""A study's owner becomes its member; a benchmark gets the owner of its first study."""

from typing import Any

from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def make_members(apps: Any, schema_editor: BaseDatabaseSchemaEditor) -> None:
    membership_model = apps.get_model("annotation", "Membership")
    owned = apps.get_model("annotation", "Study").objects.filter(owner__isnull=False)
    first_owners: dict[int, int] = {}
    for study in owned.order_by("created_at", "pk"):
        membership_model.objects.get_or_create(
            study=study, user_id=study.owner_id, defaults={"role": "owner"}
        )
        first_owners.setdefault(study.benchmark_id, study.owner_id)
    for benchmark, owner in first_owners.items():
        membership_model.objects.get_or_create(
            benchmark_id=benchmark, user_id=owner, defaults={"role": "owner"}
        )


def name_owners(apps: Any, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Back again: a study had room for one owner."""
    study_model = apps.get_model("annotation", "Study")
    owners = apps.get_model("annotation", "Membership").objects.filter(
        role="owner", study__isnull=False
    )
    for membership in owners.order_by("-pk"):
        study_model.objects.filter(pk=membership.study_id).update(owner=membership.user_id)


class Migration(migrations.Migration):
    dependencies = [("annotation", "0012_members_and_changes")]

    operations = [migrations.RunPython(make_members, name_owners)]
