from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0003_ready_made_channels")]

    operations = [
        migrations.AddField(
            model_name="task",
            name="sampling",
            field=models.JSONField(blank=True, default=dict, editable=False),
        ),
        migrations.AlterField(
            model_name="task",
            name="transfer",
            field=models.CharField(
                blank=True,
                choices=[
                    ("class", "class transfer"),
                    ("domain", "domain transfer"),
                    ("task", "task transfer"),
                    ("pretraining-only", "pretraining only"),
                ],
                help_text="FLEX's transfer protocol, where the task has one.",
                max_length=20,
            ),
        ),
    ]
