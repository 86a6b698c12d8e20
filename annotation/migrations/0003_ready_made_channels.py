from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from annotation.models.ready_made import READY_MADE_CHANNELS


def add_channels(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    channel_model = apps.get_model("annotation", "Channel")
    for channel in READY_MADE_CHANNELS:
        # The field of the link's end is made by 0005, which fills it too.
        fields = {name: value for name, value in channel.items() if name != "link_query"}
        channel_model.objects.get_or_create(slug=channel["slug"], defaults=fields)


class Migration(migrations.Migration):
    dependencies = [("annotation", "0002_judgements_are_final")]

    operations = [migrations.RunPython(add_channels, migrations.RunPython.noop)]
