from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import Q

from scoring.models.triggers import create_triggers, drop_triggers


def allow_changes(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """SQLite remakes the table, which triggers of another one name."""
    drop_triggers(schema_editor.connection)


def refuse_changes(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    create_triggers(schema_editor.connection)


class Migration(migrations.Migration):
    """An import writes its runs bit by bit, unseen until all are there."""

    dependencies = [("scoring", "0008_kept_boards")]

    operations = [
        migrations.RunPython(allow_changes, refuse_changes),
        migrations.RemoveConstraint("run", "run_content_once"),
        migrations.RemoveConstraint("run", "run_complete_by_checksum"),
        migrations.AlterField(
            "run",
            "state",
            models.CharField(
                choices=[
                    ("staged", "being imported"),
                    ("uploading", "uploading"),
                    ("complete", "complete"),
                ],
                default="uploading",
                max_length=9,
            ),
        ),
        migrations.AddConstraint(
            "run",
            models.UniqueConstraint(
                fields=["checksum"], condition=Q(state="complete"), name="run_content_once"
            ),
        ),
        migrations.AddConstraint(
            "run",
            models.CheckConstraint(
                condition=Q(state="staged")
                | Q(state="uploading", checksum="")
                | Q(Q(state="complete"), ~Q(checksum="")),
                name="run_complete_by_checksum",
            ),
        ),
        migrations.RunPython(refuse_changes, allow_changes),
    ]
