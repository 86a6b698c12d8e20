"""How a study is connected to Prolific, and what Prolific says of its submissions."""

import django.db.models.deletion
from django.db import migrations, models

import annotation.models.study


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0026_payments"),
    ]

    operations = [
        migrations.CreateModel(
            name="ProlificStudy",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("token", models.CharField(blank=True, max_length=300)),
                ("webhook_secret", models.CharField(blank=True, max_length=300)),
                (
                    "hook_token",
                    models.CharField(
                        default=annotation.models.study.new_token,
                        editable=False,
                        max_length=40,
                        unique=True,
                    ),
                ),
                ("workspace_id", models.CharField(blank=True, max_length=60)),
                ("project_id", models.CharField(blank=True, max_length=60)),
                ("group_id", models.CharField(blank=True, max_length=60)),
                ("remote_id", models.CharField(blank=True, max_length=60)),
                ("subscription_id", models.CharField(blank=True, max_length=60)),
                ("polled_at", models.DateTimeField(blank=True, null=True)),
                ("problem", models.TextField(blank=True)),
            ],
        ),
        migrations.CreateModel(
            name="Submission",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("RESERVED", "place reserved"),
                            ("ACTIVE", "active"),
                            ("TIMED-OUT", "timed out"),
                            ("AWAITING REVIEW", "awaiting review"),
                            ("APPROVED", "approved"),
                            ("PARTIALLY APPROVED", "partially approved"),
                            ("RETURNED", "returned"),
                            ("REJECTED", "rejected"),
                            ("SCREENED OUT", "screened out"),
                        ],
                        max_length=18,
                    ),
                ),
                ("status_at", models.DateTimeField()),
            ],
        ),
        migrations.AddField(
            model_name="prolificstudy",
            name="study",
            field=models.OneToOneField(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="prolific",
                to="annotation.study",
            ),
        ),
        migrations.AddField(
            model_name="submission",
            name="assignment",
            field=models.OneToOneField(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="submission",
                to="annotation.assignment",
            ),
        ),
        migrations.AddConstraint(
            model_name="prolificstudy",
            constraint=models.UniqueConstraint(
                condition=models.Q(("remote_id", ""), _negated=True),
                fields=("remote_id",),
                name="prolific_study_once",
            ),
        ),
        migrations.AddConstraint(
            model_name="submission",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "status__in",
                        [
                            "RESERVED",
                            "ACTIVE",
                            "TIMED-OUT",
                            "AWAITING REVIEW",
                            "APPROVED",
                            "PARTIALLY APPROVED",
                            "RETURNED",
                            "REJECTED",
                            "SCREENED OUT",
                        ],
                    )
                ),
                name="submission_status_known",
            ),
        ),
    ]
