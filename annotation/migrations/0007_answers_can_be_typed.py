from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0006_tasks_name_a_normalisation")]

    operations = [
        migrations.RemoveConstraint(model_name="task", name="task_kind_known"),
        migrations.AlterField(
            model_name="task",
            name="kind",
            field=models.CharField(
                choices=[
                    ("choice", "choice"),
                    ("spans", "spans"),
                    ("candidate", "candidate"),
                    ("text", "text"),
                ],
                max_length=10,
            ),
        ),
        migrations.AddConstraint(
            model_name="task",
            constraint=models.CheckConstraint(
                condition=models.Q(("kind__in", ["choice", "spans", "candidate", "text"])),
                name="task_kind_known",
            ),
        ),
    ]
