"""What researchers may do with runs and leaderboards of their own benchmarks."""

from importlib import import_module
from typing import Any

from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

PERMISSIONS = {
    "run": ("delete", "view"),
    "reportedscore": ("add", "delete", "view"),
    "boarddecision": ("add", "change", "delete", "view"),
    "leaderboard": ("add", "change", "delete", "view"),
}


def grant(apps: Any, schema_editor: BaseDatabaseSchemaEditor) -> None:
    import_module("annotation.migrations.0002_ready_made").grant(apps, "scoring", PERMISSIONS)


class Migration(migrations.Migration):
    replaces = [("scoring", "0007_researchers")]

    dependencies = [
        ("annotation", "0002_ready_made"),
        ("scoring", "0001_initial"),
    ]

    operations = [migrations.RunPython(grant, migrations.RunPython.noop)]
