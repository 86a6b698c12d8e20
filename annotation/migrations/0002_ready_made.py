"""The channels that every installation has, and the group "Researchers": what its members need to
use the admin for studies and benchmarks of their own. Which rows they see, their roles decide."""

from typing import Any

from django.apps.registry import Apps
from django.contrib.auth.management import create_permissions
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from annotation.models.ready_made import READY_MADE_CHANNELS

GROUP = "Researchers"
PERMISSIONS = {
    "study": ("add", "change", "delete", "view"),
    "outcomerule": ("change", "view"),
    "batch": ("add", "change", "delete", "view"),
    "invitation": ("add", "view"),
    "channel": ("view",),
    "benchmark": ("add", "change", "delete", "view"),
    "task": ("change", "view"),
    "itemset": ("view",),
    "example": ("view",),
    "goldversion": ("add",),
    "annotator": ("change", "view"),
    "assignment": ("view",),
    "exclusion": ("add", "delete"),
    "judgement": ("view",),
    "comment": ("view",),
    "job": ("change", "view"),
}


def add_channels(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    channels = apps.get_model("annotation", "Channel").objects
    known = {field.name for field in channels.model._meta.get_fields()}
    for channel in READY_MADE_CHANNELS:
        # A column that a later migration adds is filled by it.
        fields = {name: value for name, value in channel.items() if name in known}
        channels.get_or_create(slug=channel["slug"], defaults=fields)


def make_group(apps: Any, schema_editor: BaseDatabaseSchemaEditor) -> None:
    grant(apps, "annotation", PERMISSIONS)


def drop_group(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    apps.get_model("auth", "Group").objects.filter(name=GROUP).delete()


def grant(apps: Any, app_label: str, permissions: dict[str, tuple[str, ...]]) -> None:
    app = apps.get_app_config(app_label)
    # Permissions are otherwise made only after all migrations; a state's app lacks this mark.
    app.models_module = True
    create_permissions(app, verbosity=0, apps=apps)
    app.models_module = None
    names = [f"{verb}_{model}" for model, verbs in permissions.items() for verb in verbs]
    granted = apps.get_model("auth", "Permission").objects.filter(
        content_type__app_label=app_label, codename__in=names
    )
    group, _ = apps.get_model("auth", "Group").objects.get_or_create(name=GROUP)
    group.permissions.add(*granted)


class Migration(migrations.Migration):
    replaces = [
        ("annotation", "0003_ready_made_channels"),
        ("annotation", "0015_researchers"),
        ("annotation", "0021_researchers_read_comments"),
    ]

    dependencies = [
        ("annotation", "0001_initial"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
    ]

    operations = [
        migrations.RunPython(add_channels, migrations.RunPython.noop),
        migrations.RunPython(make_group, drop_group),
    ]
