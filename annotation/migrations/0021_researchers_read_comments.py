"""Researchers may read comments in the admin; which ones, their roles decide."""

from importlib import import_module
from typing import Any

from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

PERMISSIONS = {"comment": ("view",)}


def let_read(apps: Any, schema_editor: BaseDatabaseSchemaEditor) -> None:
    import_module("annotation.migrations.0015_researchers").grant(apps, "annotation", PERMISSIONS)


class Migration(migrations.Migration):
    dependencies = [("annotation", "0020_fee_of_channels")]

    operations = [migrations.RunPython(let_read, migrations.RunPython.noop)]
