from django.db import migrations, models


class Migration(migrations.Migration):
    """The entries of leaderboards are kept as well."""

    dependencies = [("scoring", "0007_researchers")]

    operations = [
        migrations.RemoveConstraint("comparison", "comparison_part_known"),
        migrations.AlterField(
            "comparison",
            "part",
            models.CharField(
                choices=[("table", "table"), ("analysis", "analysis"), ("board", "board")],
                max_length=8,
            ),
        ),
        migrations.AddConstraint(
            "comparison",
            models.CheckConstraint(
                condition=models.Q(("part__in", ["table", "analysis", "board"])),
                name="comparison_part_known",
            ),
        ),
    ]
