import django.db.models.deletion
from django.apps.registry import Apps
from django.conf import settings
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from annotation.models.ready_made import READY_MADE_CHANNELS


def give_forms(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """To the ready-made channels, where they still are as they were made."""
    channels = apps.get_model("annotation", "Channel").objects
    for channel in READY_MADE_CHANNELS:
        if form := channel.get("id_form"):
            same = {"slug": channel["slug"], "person_param": channel["person_param"]}
            channels.filter(**same, id_form="").update(id_form=form)


class Migration(migrations.Migration):
    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("annotation", "0012_prolific_deliveries"),
    ]

    operations = [
        migrations.AddField(
            model_name="channel",
            name="id_form",
            field=models.CharField(blank=True, max_length=100),
        ),
        migrations.RunPython(give_forms, migrations.RunPython.noop),
        migrations.AddField(
            model_name="study",
            name="joins_an_hour",
            field=models.PositiveIntegerField(blank=True, null=True),
        ),
        migrations.RemoveConstraint(model_name="change", name="change_action_known"),
        migrations.AddConstraint(
            model_name="change",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "action__in",
                        [
                            *("rights", "member_link", "started", "paused", "resumed", "closed"),
                            *("excluded", "exclusion_lifted", "erased", "resume_link"),
                            *("gold_corrected", "place_released", "pay_approved", "pay_corrected"),
                            *("pay_sent", "pay_exported", "platform", "settings", "batches"),
                            *("outcomes", "places", "copied", "archived", "taken_out"),
                            *("ids_exported", "bundle_exported"),
                        ],
                    )
                ),
                name="change_action_known",
            ),
        ),
        migrations.CreateModel(
            name="MemberLink",
            fields=[
                (
                    "id",
                    models.BigAutoField(auto_created=True, primary_key=True, serialize=False),
                ),
                ("role", models.CharField(max_length=6)),
                ("token_hash", models.CharField(max_length=64, unique=True)),
                ("expires_at", models.DateTimeField()),
                (
                    "benchmark",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="member_links",
                        to="annotation.benchmark",
                    ),
                ),
                (
                    "made_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "study",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="member_links",
                        to="annotation.study",
                    ),
                ),
            ],
            options={"ordering": ["id"]},
        ),
        migrations.AddConstraint(
            model_name="memberlink",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("benchmark__isnull", True), ("study__isnull", False)),
                    models.Q(("benchmark__isnull", False), ("study__isnull", True)),
                    _connector="OR",
                ),
                name="member_link_of_one",
            ),
        ),
        migrations.AddConstraint(
            model_name="memberlink",
            constraint=models.CheckConstraint(
                condition=models.Q(("role__in", ["owner", "editor", "viewer"])),
                name="member_link_role_known",
            ),
        ),
    ]
