from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    """What was kept until now are analyses."""

    dependencies = [("scoring", "0003_decisions_on_the_leaderboard")]

    operations = [
        migrations.RemoveConstraint("comparison", "comparison_of_study_once"),
        migrations.RemoveConstraint("comparison", "comparison_of_benchmark_once"),
        migrations.AddField(
            "comparison",
            "part",
            models.CharField(
                max_length=8,
                choices=[("table", "table"), ("analysis", "analysis")],
                default="analysis",
            ),
            preserve_default=False,
        ),
        migrations.AddConstraint(
            "comparison",
            models.UniqueConstraint(
                fields=["study", "part", "parameters_key"], name="comparison_of_study_once"
            ),
        ),
        migrations.AddConstraint(
            "comparison",
            models.UniqueConstraint(
                fields=["benchmark", "part", "parameters_key"],
                name="comparison_of_benchmark_once",
            ),
        ),
        migrations.AddConstraint(
            "comparison",
            models.CheckConstraint(
                condition=Q(part__in=["table", "analysis"]), name="comparison_part_known"
            ),
        ),
    ]
