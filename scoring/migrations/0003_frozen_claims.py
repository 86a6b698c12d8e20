"""When a run became complete, and what a study claims, frozen."""

from typing import Any

import django.db.models.deletion
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import F, Q

REASONS = ["closing", "gold correction", "exclusion", "scorer", "run of a named system"]


def tell_completion(apps: Any, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """All that is known of runs that are there: when they came."""
    if schema_editor.connection.vendor == "postgresql":
        # Made again after the migrations; on SQLite all are lifted.
        schema_editor.execute("DROP TRIGGER IF EXISTS scoring_run_no_change ON scoring_run")
    complete = apps.get_model("scoring", "Run")._base_manager.filter(state="complete")
    complete.update(completed_at=F("created_at"))


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0003_named_before"),
        ("scoring", "0002_researchers"),
    ]

    operations = [
        migrations.AddField(
            model_name="run",
            name="completed_at",
            field=models.DateTimeField(blank=True, editable=False, null=True),
        ),
        migrations.RunPython(tell_completion, migrations.RunPython.noop),
        migrations.AddConstraint(
            model_name="run",
            constraint=models.CheckConstraint(
                condition=Q(("completed_at__isnull", False), ("state", "complete"))
                | Q(~Q(state="complete"), ("completed_at__isnull", True)),
                name="run_complete_at_a_time",
            ),
        ),
        migrations.CreateModel(
            name="FrozenClaims",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                ("version", models.PositiveIntegerField()),
                ("frozen_at", models.DateTimeField(auto_now_add=True)),
                ("reason", models.CharField(max_length=21)),
                ("margin", models.FloatField()),
                ("systems", models.JSONField()),
                ("fingerprint", models.CharField(max_length=64)),
                ("claims", models.JSONField()),
                (
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="frozen_claims",
                        to="annotation.study",
                    ),
                ),
            ],
            options={
                "ordering": ["study", "version"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=["study", "version"], name="frozen_claims_version_once"
                    ),
                    models.CheckConstraint(
                        condition=Q(reason__in=REASONS), name="frozen_claims_reason_known"
                    ),
                    models.CheckConstraint(
                        condition=Q(reason="closing", version=1)
                        | Q(Q(version__gt=1), ~Q(reason="closing")),
                        name="frozen_claims_begin_with_closing",
                    ),
                    models.CheckConstraint(
                        condition=~Q(fingerprint=""), name="frozen_claims_fingerprint_not_empty"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="FrozenRun",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                (
                    "claims",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="frozen_runs",
                        to="scoring.frozenclaims",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="frozen_in",
                        to="scoring.run",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=["claims", "run"], name="frozen_run_once")
                ],
            },
        ),
        migrations.AddField(
            model_name="frozenclaims",
            name="runs",
            field=models.ManyToManyField(
                related_name="+", through="scoring.FrozenRun", to="scoring.run"
            ),
        ),
    ]
