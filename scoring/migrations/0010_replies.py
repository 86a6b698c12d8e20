import django.db.models.deletion
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from scoring.models.triggers import create_triggers


def refuse_changes(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    create_triggers(schema_editor.connection)


class Migration(migrations.Migration):
    """What models wrote, where they were asked from here."""

    dependencies = [("scoring", "0009_imported_runs_are_published_at_once")]

    operations = [
        migrations.CreateModel(
            name="Reply",
            fields=[
                (
                    "prediction",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="reply",
                        serialize=False,
                        to="scoring.prediction",
                    ),
                ),
                ("text", models.TextField(blank=True)),
                ("version", models.CharField(blank=True, max_length=200)),
                ("stop_reason", models.CharField(blank=True, max_length=40)),
                ("input_tokens", models.PositiveIntegerField(blank=True, null=True)),
                ("output_tokens", models.PositiveIntegerField(blank=True, null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
        ),
        migrations.RunPython(refuse_changes, migrations.RunPython.noop),
    ]
