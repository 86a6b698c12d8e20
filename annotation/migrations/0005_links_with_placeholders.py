from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from annotation.models.ready_made import READY_MADE_CHANNELS


def add_placeholders(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    channel_model = apps.get_model("annotation", "Channel")
    for channel in READY_MADE_CHANNELS:
        if "link_query" in channel:
            without = channel_model.objects.filter(slug=channel["slug"], link_query="")
            without.update(link_query=channel["link_query"])


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
