from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0005_links_with_placeholders")]

    operations = [
        migrations.AddField(
            model_name="task",
            name="normalisation",
            field=models.CharField(
                choices=[("none", "none"), ("squad", "squad")],
                default="none",
                help_text="How typed answers and gold are made alike before they are compared.",
                max_length=10,
            ),
        ),
        migrations.AddConstraint(
            model_name="task",
            constraint=models.CheckConstraint(
                condition=models.Q(("normalisation__in", ["none", "squad"])),
                name="task_normalisation_known",
            ),
        ),
    ]
