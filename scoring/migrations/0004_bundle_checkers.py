"""Researchers may check the bundles of others; whoever runs the installation may take it back."""

from importlib import import_module
from typing import Any

from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

PERMISSIONS = {"importedstudy": ("add",)}


def grant(apps: Any, schema_editor: BaseDatabaseSchemaEditor) -> None:
    import_module("annotation.migrations.0002_ready_made").grant(apps, "scoring", PERMISSIONS)


class Migration(migrations.Migration):
    dependencies = [("scoring", "0003_frozen_claims")]

    operations = [migrations.RunPython(grant, migrations.RunPython.noop)]
