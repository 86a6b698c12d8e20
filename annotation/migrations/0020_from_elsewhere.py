import django.db.models.deletion
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from annotation.models.channel import ELSEWHERE
from annotation.models.ready_made import READY_MADE_CHANNELS


def add_channel(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """A new database has it by the migration that makes all of them."""
    [fields] = [channel for channel in READY_MADE_CHANNELS if channel["slug"] == ELSEWHERE]
    apps.get_model("annotation", "Channel").objects.get_or_create(slug=ELSEWHERE, defaults=fields)


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0019_kept_time_and_log"),
    ]

    operations = [
        migrations.CreateModel(
            name="GivenScore",
            fields=[
                (
                    "id",
                    models.BigAutoField(auto_created=True, primary_key=True, serialize=False),
                ),
                (
                    "assignment",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="given_scores",
                        to="annotation.assignment",
                    ),
                ),
                (
                    "example",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="annotation.example",
                    ),
                ),
                ("score", models.FloatField()),
                ("seconds", models.FloatField(default=0)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("assignment", "example"), name="given_score_once"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("score__gte", 0), ("score__lte", 1)),
                        name="given_score_is_a_share",
                    ),
                ],
            },
        ),
        migrations.AddField(
            model_name="study",
            name="source",
            field=models.TextField(blank=True, default="", editable=False),
            preserve_default=False,
        ),
        migrations.AddConstraint(
            model_name="study",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("source", ""), ("state__in", ["draft", "closed"]), _connector="OR"
                ),
                name="study_from_elsewhere_never_open",
            ),
        ),
        migrations.RunPython(add_channel, migrations.RunPython.noop),
    ]
