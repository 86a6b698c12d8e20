from typing import Any

import django.db.models.deletion
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

STATUSES = (
    *("RESERVED", "ACTIVE", "TIMED-OUT", "AWAITING REVIEW", "APPROVED", "PARTIALLY APPROVED"),
    *("RETURNED", "REJECTED", "SCREENED OUT"),
)
PIECE = 1000


def move_ids(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """From the assignments into rows of their own, beside what was said of them."""
    assignments: Any = apps.get_model("annotation", "Assignment").objects
    submissions: Any = apps.get_model("annotation", "Submission").objects
    known = dict(submissions.values_list("assignment", "pk"))
    told = assignments.filter(pk__in=known)
    for pk, submission_id, joined_at in told.values_list("pk", "submission_id", "joined_at"):
        submissions.filter(pk=known[pk]).update(submission_id=submission_id, entered_at=joined_at)
    untold = assignments.exclude(pk__in=known).exclude(submission_id="")
    submissions.bulk_create(
        (
            submissions.model(assignment_id=pk, submission_id=submission_id, entered_at=joined_at)
            for pk, submission_id, joined_at in untold.values_list(
                "pk", "submission_id", "joined_at"
            )
        ),
        batch_size=PIECE,
    )
    own = submissions.filter(assignment=models.OuterRef("pk")).values("pk")
    assignments.update(latest_submission=models.Subquery(own))
    _settle(schema_editor)


def move_back(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """The latest alone: there is no room for the earlier ones, nor for one of which nothing was
    said."""
    assignments: Any = apps.get_model("annotation", "Assignment").objects
    submissions: Any = apps.get_model("annotation", "Submission").objects
    latest = submissions.filter(pk=models.OuterRef("latest_submission")).values("submission_id")
    entered = assignments.filter(latest_submission__isnull=False)
    entered.update(submission_id=models.Subquery(latest))
    kept = entered.exclude(latest_submission__status="").values("latest_submission")
    submissions.exclude(pk__in=list(kept.values_list("latest_submission", flat=True))).delete()
    _settle(schema_editor)


def _settle(schema_editor: BaseDatabaseSchemaEditor) -> None:
    """PostgreSQL alters no table whose rows still wait to be checked."""
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("SET CONSTRAINTS ALL IMMEDIATE")


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0016_translated_pages"),
    ]

    operations = [
        migrations.AlterModelOptions(name="submission", options={"ordering": ["id"]}),
        migrations.RemoveConstraint(model_name="submission", name="submission_status_known"),
        migrations.AddField(
            model_name="submission",
            name="entered_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="submission",
            name="submission_id",
            field=models.CharField(blank=True, default="", max_length=200),
            preserve_default=False,
        ),
        migrations.AlterField(
            model_name="submission",
            name="assignment",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="submissions",
                to="annotation.assignment",
            ),
        ),
        migrations.AlterField(
            model_name="submission",
            name="status",
            field=models.CharField(blank=True, max_length=18),
        ),
        migrations.AlterField(
            model_name="submission",
            name="status_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="assignment",
            name="latest_submission",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to="annotation.submission",
            ),
        ),
        migrations.AddField(
            model_name="assignment",
            name="timed_out_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.RunPython(move_ids, move_back),
        migrations.AlterField(
            model_name="submission",
            name="entered_at",
            field=models.DateTimeField(),
        ),
        migrations.RemoveField(model_name="assignment", name="submission_id"),
        migrations.AddConstraint(
            model_name="submission",
            constraint=models.UniqueConstraint(
                condition=models.Q(("submission_id", ""), _negated=True),
                fields=("assignment", "submission_id"),
                name="submission_once",
            ),
        ),
        migrations.AddConstraint(
            model_name="submission",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("status", ""), ("status_at__isnull", True)),
                    models.Q(("status__in", list(STATUSES)), ("status_at__isnull", False)),
                    _connector="OR",
                ),
                name="submission_status_known",
            ),
        ),
    ]
