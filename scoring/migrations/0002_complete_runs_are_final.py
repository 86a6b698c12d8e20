from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from scoring.models.triggers import create_triggers, drop_triggers


def refuse_changes(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    create_triggers(schema_editor.connection)


def allow_changes(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    drop_triggers(schema_editor.connection)


class Migration(migrations.Migration):
    dependencies = [("scoring", "0001_runs_and_comparisons")]

    operations = [migrations.RunPython(refuse_changes, allow_changes)]
