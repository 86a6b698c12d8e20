"""The log knows what is done with payments, places and the platform."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0024_names_of_tasks_and_rehearsals"),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name="change",
            name="change_action_known",
        ),
        migrations.AlterField(
            model_name="change",
            name="action",
            field=models.CharField(
                choices=[
                    ("rights", "rights changed"),
                    ("started", "started"),
                    ("paused", "paused"),
                    ("resumed", "resumed"),
                    ("closed", "closed"),
                    ("excluded", "assignment excluded"),
                    ("exclusion_lifted", "exclusion lifted"),
                    ("erased", "identity erased"),
                    ("resume_link", "new resume link"),
                    ("gold_corrected", "gold corrected"),
                    ("place_released", "place released"),
                    ("pay_approved", "payments approved"),
                    ("pay_corrected", "payment corrected"),
                    ("pay_sent", "bonuses marked as sent"),
                    ("pay_exported", "payments exported"),
                    ("platform", "connection to the platform changed"),
                ],
                max_length=16,
            ),
        ),
        migrations.AddConstraint(
            model_name="change",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "action__in",
                        [
                            "rights",
                            "started",
                            "paused",
                            "resumed",
                            "closed",
                            "excluded",
                            "exclusion_lifted",
                            "erased",
                            "resume_link",
                            "gold_corrected",
                            "place_released",
                            "pay_approved",
                            "pay_corrected",
                            "pay_sent",
                            "pay_exported",
                            "platform",
                        ],
                    )
                ),
                name="change_action_known",
            ),
        ),
    ]
