from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0017_files_that_jobs_make"),
    ]

    operations = [
        migrations.AddField(
            model_name="assignment",
            name="ended_by_closing",
            field=models.BooleanField(default=False),
        ),
    ]
