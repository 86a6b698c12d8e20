from typing import Any

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

CHANNELS: list[dict[str, Any]] = [
    {
        "slug": "prolific",
        "name": "Prolific",
        "person_param": "PROLIFIC_PID",
        "study_param": "STUDY_ID",
        "submission_param": "SESSION_ID",
        "completion_url": "https://app.prolific.com/submissions/complete?cc={code}",
    },
    {
        "slug": "connect",
        "name": "CloudResearch Connect",
        "person_param": "participantId",
        "study_param": "projectId",
        "submission_param": "assignmentId",
    },
    {"slug": "link", "name": "Plain link"},
    {"slug": "invited", "name": "Personal links", "invited_only": True},
    {"slug": "simulated", "name": "Simulated annotators", "is_simulated": True},
]


def add_channels(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    channel_model = apps.get_model("annotation", "Channel")
    for channel in CHANNELS:
        channel_model.objects.get_or_create(slug=channel["slug"], defaults=channel)


class Migration(migrations.Migration):
    dependencies = [("annotation", "0002_judgements_are_final")]

    operations = [migrations.RunPython(add_channels, migrations.RunPython.noop)]
