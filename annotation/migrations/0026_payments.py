"""What the platform pays itself, and the ledger of what was approved and sent."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0025_log_of_payments"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="PaymentLine",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "purpose",
                    models.CharField(
                        choices=[("due", "approved as due"), ("bonus", "sent as a bonus")],
                        max_length=5,
                    ),
                ),
                ("correction", models.PositiveSmallIntegerField(default=0)),
                ("amount", models.DecimalField(decimal_places=2, max_digits=8)),
                ("reason", models.TextField(blank=True)),
                ("made_at", models.DateTimeField()),
            ],
            options={
                "ordering": ["id"],
            },
        ),
        migrations.CreateModel(
            name="Payout",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "way",
                    models.CharField(
                        choices=[("file", "by a file"), ("api", "by the platform's API")],
                        max_length=4,
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("sending", "being sent"),
                            ("sent", "sent"),
                            ("unknown", "unknown"),
                            ("refused", "not sent"),
                        ],
                        max_length=7,
                    ),
                ),
                ("remote_id", models.CharField(blank=True, max_length=100)),
                ("made_at", models.DateTimeField()),
            ],
            options={
                "ordering": ["-id"],
            },
        ),
        migrations.AddField(
            model_name="outcomerule",
            name="platform_pays",
            field=models.DecimalField(
                decimal_places=2,
                default=0,
                help_text="What the platform itself pays whoever hands in this code.",
                max_digits=8,
                verbose_name="platform pays",
            ),
        ),
        migrations.AddConstraint(
            model_name="outcomerule",
            constraint=models.CheckConstraint(
                condition=models.Q(("platform_pays__gte", 0)),
                name="outcome_platform_pays_not_negative",
            ),
        ),
        migrations.AddField(
            model_name="paymentline",
            name="assignment",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="payment_lines",
                to="annotation.assignment",
            ),
        ),
        migrations.AddField(
            model_name="paymentline",
            name="author",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="payout",
            name="author",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="payout",
            name="study",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="payouts",
                to="annotation.study",
            ),
        ),
        migrations.AddField(
            model_name="paymentline",
            name="payout",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="lines",
                to="annotation.payout",
            ),
        ),
        migrations.AddConstraint(
            model_name="payout",
            constraint=models.CheckConstraint(
                condition=models.Q(("way__in", ["file", "api"])), name="payout_way_known"
            ),
        ),
        migrations.AddConstraint(
            model_name="payout",
            constraint=models.CheckConstraint(
                condition=models.Q(("state__in", ["sending", "sent", "unknown", "refused"])),
                name="payout_state_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="payout",
            constraint=models.UniqueConstraint(
                condition=models.Q(("remote_id", ""), _negated=True),
                fields=("remote_id",),
                name="payout_remote_once",
            ),
        ),
        migrations.AddConstraint(
            model_name="paymentline",
            constraint=models.UniqueConstraint(
                fields=("assignment", "purpose", "correction"), name="payment_line_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="paymentline",
            constraint=models.CheckConstraint(
                condition=models.Q(("purpose__in", ["due", "bonus"])), name="payment_purpose_known"
            ),
        ),
        migrations.AddConstraint(
            model_name="paymentline",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("amount__gt", 0),
                    models.Q(("amount__lt", 0), ("correction__gt", 0)),
                    _connector="OR",
                ),
                name="payment_first_positive",
            ),
        ),
        migrations.AddConstraint(
            model_name="paymentline",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("correction", 0),
                    models.Q(("purpose", "due"), _negated=True),
                    models.Q(("reason", ""), _negated=True),
                    _connector="OR",
                ),
                name="payment_correction_has_reason",
            ),
        ),
        migrations.AddConstraint(
            model_name="paymentline",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("payout__isnull", False), ("purpose", "bonus")),
                    models.Q(("payout__isnull", True), ("purpose", "due")),
                    _connector="OR",
                ),
                name="payment_bonus_by_payout",
            ),
        ),
    ]
