from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0008_options_of_examples"),
    ]

    operations = [
        migrations.AddField(
            model_name="example",
            name="groups",
            field=models.JSONField(blank=True, default=dict),
        ),
        migrations.AddField(
            model_name="example",
            name="proposed",
            field=models.TextField(blank=True, default=""),
        ),
    ]
