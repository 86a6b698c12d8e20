from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

PROLIFIC = "PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"


def add_placeholders(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    channel_model = apps.get_model("annotation", "Channel")
    channel_model.objects.filter(slug="prolific", link_query="").update(link_query=PROLIFIC)


class Migration(migrations.Migration):
    dependencies = [("annotation", "0004_sampled_tasks")]

    operations = [
        migrations.AddField(
            model_name="channel",
            name="link_query",
            field=models.CharField(
                blank=True,
                help_text="What follows the “?” of the link that a researcher gives to the "
                "platform.",
                max_length=300,
            ),
        ),
        migrations.RunPython(add_placeholders, migrations.RunPython.noop),
    ]
