"""How often something was pasted, and what each assignment's judgements come to."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0027_prolific"),
    ]

    operations = [
        migrations.CreateModel(
            name="WorkSummary",
            fields=[
                (
                    "assignment",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="summary",
                        serialize=False,
                        to="annotation.assignment",
                    ),
                ),
                ("state", models.CharField(max_length=11)),
                ("step", models.PositiveIntegerField()),
                ("median_ms", models.PositiveIntegerField(null=True)),
                ("tested", models.PositiveIntegerField(default=0)),
                ("commonest_share", models.FloatField(default=0)),
                ("distinct", models.PositiveIntegerField(default=0)),
                ("answers_hash", models.CharField(blank=True, db_index=True, max_length=64)),
                ("longest_ms", models.PositiveBigIntegerField(default=0)),
                ("pastes", models.PositiveIntegerField(default=0)),
            ],
        ),
        migrations.AddField(
            model_name="judgement",
            name="pastes",
            field=models.PositiveSmallIntegerField(null=True),
        ),
    ]
