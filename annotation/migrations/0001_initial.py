import django.core.validators
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import annotation.models.assignment
import annotation.models.study


class Migration(migrations.Migration):
    replaces = [
        ("annotation", "0001_protocol"),
        ("annotation", "0002_judgements_are_final"),
        ("annotation", "0004_sampled_tasks"),
        ("annotation", "0005_links_with_placeholders"),
        ("annotation", "0006_tasks_name_a_normalisation"),
        ("annotation", "0007_answers_can_be_typed"),
        ("annotation", "0008_plainer_help_texts"),
        ("annotation", "0009_fingerprint_of_the_identity_key"),
        ("annotation", "0010_end_what_waits_for_consent"),
        ("annotation", "0011_consent_makes_the_assignment"),
        ("annotation", "0012_members_and_changes"),
        ("annotation", "0013_owners_become_members"),
        ("annotation", "0014_studies_have_members"),
        ("annotation", "0016_imports_are_published_at_once"),
        ("annotation", "0017_files_that_jobs_make"),
        ("annotation", "0018_work_ended_by_closing"),
        ("annotation", "0019_comments"),
        ("annotation", "0020_fee_of_channels"),
        ("annotation", "0022_margin_of_studies"),
        ("annotation", "0023_codes_for_other_devices"),
        ("annotation", "0024_names_of_tasks_and_rehearsals"),
        ("annotation", "0025_log_of_payments"),
        ("annotation", "0026_payments"),
        ("annotation", "0027_prolific"),
        ("annotation", "0028_summaries_of_work"),
        ("annotation", "0029_archive_and_exports"),
        ("annotation", "0030_names_of_fields"),
        ("annotation", "0031_log_of_batches_and_outcomes"),
        ("annotation", "0032_people_who_need_a_look"),
        ("annotation", "0033_expected_seconds"),
    ]

    initial = True

    dependencies = [("auth", "__first__")]

    operations = [
        migrations.CreateModel(
            name="Benchmark",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                ("name", models.SlugField(max_length=80, unique=True)),
                ("title", models.CharField(blank=True, max_length=200)),
                ("source", models.TextField(blank=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("is_staged", models.BooleanField(default=False, editable=False)),
            ],
            options={"ordering": ["name"]},
        ),
        migrations.CreateModel(
            name="Task",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                (
                    "benchmark",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="tasks",
                        to="annotation.benchmark",
                    ),
                ),
                ("slug", models.SlugField(max_length=80)),
                ("name", models.CharField(blank=True, max_length=80)),
                ("title", models.CharField(blank=True, max_length=200)),
                ("kind", models.CharField(max_length=10)),
                ("description", models.TextField(blank=True)),
                ("max_spans", models.PositiveSmallIntegerField(blank=True, null=True)),
                ("normalisation", models.CharField(default="none", max_length=10)),
                ("language", models.CharField(default="en", max_length=20)),
                ("direction", models.CharField(default="ltr", max_length=3)),
                ("reference_policy", models.CharField(default="any", max_length=3)),
                ("transfer", models.CharField(blank=True, max_length=20)),
                ("exposure_key", models.CharField(db_index=True, max_length=64)),
                ("audit", models.JSONField(blank=True, default=list)),
                ("sampling", models.JSONField(blank=True, default=dict, editable=False)),
            ],
            options={
                "ordering": ["benchmark", "slug"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("benchmark", "slug"), name="task_slug_in_benchmark"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("kind__in", ["choice", "spans", "candidate", "text"])),
                        name="task_kind_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("normalisation__in", ["none", "squad"])),
                        name="task_normalisation_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("max_spans__isnull", True), ("max_spans__gte", 1), _connector="OR"
                        ),
                        name="task_max_spans_positive",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("exposure_key", ""), _negated=True),
                        name="task_has_exposure_key",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Example",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                (
                    "task",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="examples",
                        to="annotation.task",
                    ),
                ),
                ("identity", models.CharField(max_length=300)),
                ("content_hash", models.CharField(db_index=True, max_length=64)),
                ("context_hash", models.CharField(max_length=64)),
                ("context", models.JSONField()),
                ("question", models.TextField()),
                ("candidates", models.JSONField(blank=True, default=list)),
            ],
            options={
                "ordering": ["id"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("task", "identity"), name="example_identity_in_task"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="GoldVersion",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                (
                    "task",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="gold_versions",
                        to="annotation.task",
                    ),
                ),
                ("number", models.PositiveIntegerField()),
                ("reason", models.TextField()),
                (
                    "author",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "ordering": ["task", "number"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("task", "number"), name="gold_version_number_in_task"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Gold",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                (
                    "example",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="golds",
                        to="annotation.example",
                    ),
                ),
                (
                    "version",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="golds",
                        to="annotation.goldversion",
                    ),
                ),
                ("alternatives", models.JSONField()),
                ("explanation", models.TextField(blank=True)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("example", "version"), name="gold_once_in_version"
                    )
                ]
            },
        ),
        migrations.CreateModel(
            name="ItemSet",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                (
                    "task",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="item_sets",
                        to="annotation.task",
                    ),
                ),
                ("name", models.SlugField(max_length=80)),
                ("role", models.CharField(max_length=8)),
                ("shots", models.PositiveIntegerField(blank=True, null=True)),
                ("split", models.PositiveIntegerField(blank=True, null=True)),
                ("episode", models.PositiveIntegerField(blank=True, null=True)),
                ("choices", models.JSONField(blank=True, default=list)),
                ("source_file", models.CharField(blank=True, max_length=300)),
                ("checksum", models.CharField(max_length=64)),
            ],
            options={
                "ordering": ["task", "role", "shots", "split", "episode", "name"],
                "constraints": [
                    models.UniqueConstraint(fields=("task", "name"), name="item_set_name_in_task"),
                    models.CheckConstraint(
                        condition=models.Q(("role__in", ["training", "test"])),
                        name="item_set_role_known",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Item",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                (
                    "item_set",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="items",
                        to="annotation.itemset",
                    ),
                ),
                (
                    "example",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="items",
                        to="annotation.example",
                    ),
                ),
                ("position", models.PositiveIntegerField()),
                ("source_id", models.CharField(max_length=200)),
            ],
            options={
                "ordering": ["item_set", "position"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("item_set", "position"), name="item_position_once"
                    ),
                    models.UniqueConstraint(
                        fields=("item_set", "example"), name="item_example_once"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Channel",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                ("slug", models.SlugField(max_length=60, unique=True)),
                ("name", models.CharField(max_length=100)),
                ("person_param", models.CharField(blank=True, max_length=60)),
                ("study_param", models.CharField(blank=True, max_length=60)),
                ("submission_param", models.CharField(blank=True, max_length=60)),
                ("signature_param", models.CharField(blank=True, max_length=60)),
                ("signature_secret", models.CharField(blank=True, max_length=200)),
                ("link_query", models.CharField(blank=True, max_length=300)),
                ("completion_url", models.CharField(blank=True, max_length=300)),
                ("invited_only", models.BooleanField(default=False)),
                ("is_simulated", models.BooleanField(default=False, editable=False)),
            ],
            options={"ordering": ["name"]},
        ),
        migrations.CreateModel(
            name="Study",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                ("slug", models.SlugField(max_length=80, unique=True)),
                ("title", models.CharField(max_length=200)),
                (
                    "benchmark",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="studies",
                        to="annotation.benchmark",
                    ),
                ),
                (
                    "channel",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="studies",
                        to="annotation.channel",
                    ),
                ),
                ("is_rehearsal", models.BooleanField(default=False, editable=False)),
                (
                    "rehearses",
                    models.ForeignKey(
                        blank=True,
                        editable=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="rehearsals",
                        to="annotation.study",
                    ),
                ),
                ("state", models.CharField(default="draft", editable=False, max_length=6)),
                ("consent_text", models.TextField(blank=True)),
                ("contact", models.CharField(blank=True, max_length=200)),
                ("hourly_rate", models.DecimalField(decimal_places=2, default=12, max_digits=8)),
                ("currency", models.CharField(default="USD", max_length=3)),
                ("platform_fee", models.DecimalField(decimal_places=2, default=0, max_digits=5)),
                (
                    "expected_seconds",
                    models.FloatField(
                        blank=True,
                        null=True,
                        validators=[
                            django.core.validators.MinValueValidator(1),
                            django.core.validators.MaxValueValidator(3600),
                        ],
                    ),
                ),
                ("min_training_score", models.FloatField(blank=True, null=True)),
                ("max_drop", models.FloatField(blank=True, null=True)),
                ("drop_unit", models.CharField(default="points", max_length=6)),
                ("drop_group_size", models.PositiveSmallIntegerField(default=5)),
                ("margin", models.FloatField(default=0)),
                ("lease_minutes", models.PositiveIntegerField(default=60)),
                ("expire_hours", models.PositiveIntegerField(default=24)),
                ("idle_after_s", models.PositiveIntegerField(default=30)),
                ("item_cap_s", models.PositiveIntegerField(default=180)),
                ("reading_cap_s", models.PositiveIntegerField(default=300)),
                ("reveal_cap_s", models.PositiveIntegerField(default=60)),
                ("seed", models.PositiveBigIntegerField(default=annotation.models.study.new_seed)),
                (
                    "join_token",
                    models.CharField(
                        default=annotation.models.study.new_token,
                        editable=False,
                        max_length=40,
                        unique=True,
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("started_at", models.DateTimeField(blank=True, editable=False, null=True)),
                ("closed_at", models.DateTimeField(blank=True, editable=False, null=True)),
                ("archived_at", models.DateTimeField(blank=True, editable=False, null=True)),
                ("frozen", models.JSONField(blank=True, default=dict, editable=False)),
            ],
            options={
                "ordering": ["-created_at"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["draft", "open", "paused", "closed"])),
                        name="study_state_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("started_at__isnull", True), ("state", "draft")),
                            models.Q(
                                models.Q(("state", "draft"), _negated=True),
                                ("started_at__isnull", False),
                            ),
                            _connector="OR",
                        ),
                        name="study_started_once_open",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("rehearses__isnull", True), ("is_rehearsal", True), _connector="OR"
                        ),
                        name="study_rehearsal_of_another",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("archived_at__isnull", True), ("state", "closed"), _connector="OR"
                        ),
                        name="study_archived_once_closed",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("hourly_rate__gt", 0)), name="study_rate_positive"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("platform_fee__gte", 0)), name="study_fee_not_negative"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("min_training_score__isnull", True),
                            models.Q(
                                ("min_training_score__gte", 0), ("min_training_score__lte", 100)
                            ),
                            _connector="OR",
                        ),
                        name="study_floor_in_percent",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("max_drop__isnull", True), ("max_drop__gt", 0), _connector="OR"
                        ),
                        name="study_drop_positive",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("margin__gte", 0), ("margin__lte", 100)),
                        name="study_margin_in_points",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("drop_group_size__gte", 2)),
                        name="study_drop_group_of_two",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("expected_seconds__isnull", True),
                            ("expected_seconds__gt", 0),
                            _connector="OR",
                        ),
                        name="study_expected_seconds_positive",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("lease_minutes__gte", 1),
                            ("idle_after_s__gte", 5),
                            ("item_cap_s__gte", 1),
                        ),
                        name="study_times_positive",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="OutcomeRule",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                (
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="outcome_rules",
                        to="annotation.study",
                    ),
                ),
                ("outcome", models.CharField(max_length=12)),
                ("code", models.CharField(max_length=40)),
                ("pays_time", models.BooleanField(default=True)),
                ("minimum", models.DecimalField(decimal_places=2, default=0, max_digits=8)),
                ("platform_pays", models.DecimalField(decimal_places=2, default=0, max_digits=8)),
            ],
            options={
                "ordering": ["study", "outcome"],
                "constraints": [
                    models.UniqueConstraint(fields=("study", "outcome"), name="outcome_rule_once"),
                    models.UniqueConstraint(fields=("study", "code"), name="outcome_code_distinct"),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "outcome__in",
                                [
                                    "completed",
                                    "screened_out",
                                    "withdrawn",
                                    "expired",
                                    "displaced",
                                    "declined",
                                    "full",
                                ],
                            )
                        ),
                        name="outcome_rule_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("code", ""), _negated=True),
                        name="outcome_code_not_empty",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("minimum__gte", 0)), name="outcome_minimum_not_negative"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("outcome__in", ["completed", "screened_out"]), _negated=True),
                            ("pays_time", True),
                            _connector="OR",
                        ),
                        name="outcome_training_never_unpaid",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("platform_pays__gte", 0)),
                        name="outcome_platform_pays_not_negative",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Membership",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="memberships",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "study",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="memberships",
                        to="annotation.study",
                    ),
                ),
                (
                    "benchmark",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="memberships",
                        to="annotation.benchmark",
                    ),
                ),
                ("role", models.CharField(max_length=6)),
            ],
            options={
                "ordering": ["user__username", "id"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("benchmark__isnull", True), ("study__isnull", False)),
                            models.Q(("benchmark__isnull", False), ("study__isnull", True)),
                            _connector="OR",
                        ),
                        name="membership_of_one",
                    ),
                    models.UniqueConstraint(
                        fields=("user", "study"), name="membership_in_study_once"
                    ),
                    models.UniqueConstraint(
                        fields=("user", "benchmark"), name="membership_in_benchmark_once"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("role__in", ["owner", "editor", "viewer"])),
                        name="membership_role_known",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Change",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                (
                    "study",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="changes",
                        to="annotation.study",
                    ),
                ),
                (
                    "benchmark",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="changes",
                        to="annotation.benchmark",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("action", models.CharField(max_length=16)),
                ("before", models.JSONField(default=dict)),
                ("after", models.JSONField(default=dict)),
                ("at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "ordering": ["-id"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("benchmark__isnull", True), ("study__isnull", False)),
                            models.Q(("benchmark__isnull", False), ("study__isnull", True)),
                            _connector="OR",
                        ),
                        name="change_of_one",
                    ),
                    models.CheckConstraint(
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
                                    "settings",
                                    "batches",
                                    "outcomes",
                                    "places",
                                    "copied",
                                    "archived",
                                    "taken_out",
                                    "ids_exported",
                                    "bundle_exported",
                                ],
                            )
                        ),
                        name="change_action_known",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Batch",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                (
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="batches",
                        to="annotation.study",
                    ),
                ),
                (
                    "task",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="batches",
                        to="annotation.task",
                    ),
                ),
                (
                    "training_set",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="annotation.itemset",
                    ),
                ),
                (
                    "test_set",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="annotation.itemset",
                    ),
                ),
                ("chain", models.PositiveIntegerField(blank=True, null=True)),
                ("wanted", models.PositiveIntegerField(default=3)),
                (
                    "join_token",
                    models.CharField(
                        default=annotation.models.study.new_token,
                        editable=False,
                        max_length=40,
                        unique=True,
                    ),
                ),
                ("description", models.TextField(blank=True, editable=False)),
                (
                    "gold_version",
                    models.ForeignKey(
                        blank=True,
                        editable=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        to="annotation.goldversion",
                    ),
                ),
            ],
            options={
                "ordering": ["study", "task", "training_set__shots", "training_set__split", "id"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("study", "training_set", "test_set"), name="batch_once_in_study"
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("training_set__isnull", True)),
                        fields=("study", "test_set"),
                        name="batch_zero_shot_once_in_study",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("wanted__gte", 1)), name="batch_wants_somebody"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Invitation",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                (
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="invitations",
                        to="annotation.study",
                    ),
                ),
                ("external_id", models.CharField(max_length=200)),
                (
                    "token",
                    models.CharField(
                        default=annotation.models.study.new_token,
                        editable=False,
                        max_length=40,
                        unique=True,
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "ordering": ["id"],
                "constraints": [
                    models.UniqueConstraint(fields=("study", "external_id"), name="invitation_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="Annotator",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                (
                    "channel",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="annotators",
                        to="annotation.channel",
                    ),
                ),
                ("identity_hash", models.CharField(max_length=64)),
                ("external_id", models.CharField(blank=True, max_length=200)),
                (
                    "pseudonym",
                    models.CharField(
                        default=annotation.models.assignment.new_pseudonym,
                        max_length=12,
                        unique=True,
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("erased_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "ordering": ["id"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("channel", "identity_hash"), name="annotator_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Assignment",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                (
                    "annotator",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="assignments",
                        to="annotation.annotator",
                    ),
                ),
                (
                    "batch",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="assignments",
                        to="annotation.batch",
                    ),
                ),
                (
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="assignments",
                        to="annotation.study",
                    ),
                ),
                ("exposure_key", models.CharField(max_length=64)),
                ("submission_id", models.CharField(blank=True, max_length=200)),
                (
                    "browser_hash",
                    models.CharField(blank=True, db_index=True, default="", max_length=64),
                ),
                (
                    "resume_token",
                    models.CharField(
                        default=annotation.models.study.new_token, max_length=40, unique=True
                    ),
                ),
                ("resume_renewed_at", models.DateTimeField(blank=True, null=True)),
                ("order_seed", models.CharField(max_length=32)),
                ("state", models.CharField(default="description", max_length=11)),
                ("step", models.PositiveIntegerField(default=0)),
                ("outcome", models.CharField(blank=True, default="", max_length=12)),
                ("ended_by_closing", models.BooleanField(default=False)),
                ("joined_at", models.DateTimeField()),
                ("consented_at", models.DateTimeField(blank=True, null=True)),
                ("shown_at", models.DateTimeField(blank=True, null=True)),
                ("seen_at", models.DateTimeField()),
                ("training_ended_at", models.DateTimeField(blank=True, null=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                ("paid_ms", models.PositiveBigIntegerField(default=0)),
                ("reveal_ms", models.PositiveBigIntegerField(default=0)),
                (
                    "amount",
                    models.DecimalField(blank=True, decimal_places=2, max_digits=8, null=True),
                ),
                ("training_score", models.FloatField(blank=True, null=True)),
                ("screening", models.JSONField(blank=True, default=dict)),
            ],
            options={
                "ordering": ["id"],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("outcome", "declined"), _negated=True),
                        fields=("annotator", "exposure_key"),
                        name="assignment_exposed_once",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("outcome", "")),
                        fields=("annotator", "study"),
                        name="assignment_one_open_in_study",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                (
                                    "outcome__in",
                                    [
                                        "completed",
                                        "screened_out",
                                        "withdrawn",
                                        "expired",
                                        "displaced",
                                        "declined",
                                    ],
                                ),
                                ("state", "finished"),
                            ),
                            models.Q(
                                models.Q(("state", "finished"), _negated=True), ("outcome", "")
                            ),
                            _connector="OR",
                        ),
                        name="assignment_finished_by_outcome",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("state__in", ["description", "answering", "revealed", "finished"])
                        ),
                        name="assignment_state_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("state", "finished"), ("consented_at__isnull", False), _connector="OR"
                        ),
                        name="assignment_works_by_consent",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="DeviceCode",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                (
                    "assignment",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="device_code",
                        to="annotation.assignment",
                    ),
                ),
                ("code_hash", models.CharField(max_length=64, unique=True)),
                ("expires_at", models.DateTimeField(db_index=True)),
            ],
        ),
        migrations.CreateModel(
            name="Exclusion",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                (
                    "assignment",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="exclusion",
                        to="annotation.assignment",
                    ),
                ),
                ("reason", models.TextField()),
                (
                    "author",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("reason", ""), _negated=True),
                        name="exclusion_has_reason",
                    )
                ]
            },
        ),
        migrations.CreateModel(
            name="IdentityKey",
            fields=[
                (
                    "id",
                    models.PositiveSmallIntegerField(default=1, primary_key=True, serialize=False),
                ),
                ("fingerprint", models.CharField(max_length=64)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("id", 1)), name="identity_key_once")
                ]
            },
        ),
        migrations.CreateModel(
            name="Upload",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                ("name", models.CharField(max_length=300)),
                ("data", models.BinaryField()),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
        ),
        migrations.CreateModel(
            name="Job",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                ("kind", models.CharField(max_length=60)),
                ("arguments", models.JSONField(default=dict)),
                (
                    "upload",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        to="annotation.upload",
                    ),
                ),
                ("state", models.CharField(default="queued", max_length=9)),
                ("progress", models.PositiveIntegerField(default=0)),
                ("total", models.PositiveIntegerField(default=0)),
                ("message", models.TextField(blank=True)),
                ("result", models.JSONField(blank=True, default=dict)),
                ("attempt", models.PositiveIntegerField(default=0)),
                ("cancel_requested", models.BooleanField(default=False)),
                (
                    "author",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("heartbeat_at", models.DateTimeField(blank=True, null=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "ordering": ["-id"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("state__in", ["queued", "running", "done", "failed", "cancelled"])
                        ),
                        name="job_state_known",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="JobFile",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                (
                    "job",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="file",
                        to="annotation.job",
                    ),
                ),
                ("name", models.CharField(max_length=300)),
                ("data", models.BinaryField()),
                ("created_at", models.DateTimeField(auto_now=True)),
            ],
        ),
        migrations.CreateModel(
            name="Judgement",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                (
                    "assignment",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="judgements",
                        to="annotation.assignment",
                    ),
                ),
                (
                    "example",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="judgements",
                        to="annotation.example",
                    ),
                ),
                ("role", models.CharField(max_length=8)),
                ("step", models.PositiveIntegerField()),
                ("answer", models.JSONField()),
                ("spans", models.JSONField(default=list)),
                ("shown_at", models.DateTimeField()),
                ("submitted_at", models.DateTimeField()),
                ("paid_ms", models.PositiveIntegerField()),
                ("browser_ms", models.PositiveIntegerField(null=True)),
                ("first_action_ms", models.PositiveIntegerField(null=True)),
                ("active_ms", models.PositiveIntegerField(null=True)),
                ("pastes", models.PositiveSmallIntegerField(null=True)),
            ],
            options={
                "ordering": ["assignment", "step"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("assignment", "example"), name="judgement_once"
                    ),
                    models.UniqueConstraint(
                        fields=("assignment", "step"), name="judgement_step_once"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("submitted_at__gte", models.F("shown_at"))),
                        name="judgement_shown_first",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="WorkSummary",
            fields=[
                (
                    "assignment",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="summary",
                        serialize=False,
                        to="annotation.assignment",
                    ),
                ),
                ("state", models.CharField(max_length=11)),
                ("step", models.PositiveIntegerField()),
                ("median_ms", models.PositiveIntegerField(null=True)),
                ("tested", models.PositiveIntegerField(default=0)),
                ("commonest_share", models.FloatField(default=0)),
                ("distinct", models.PositiveIntegerField(default=0)),
                ("answers_hash", models.CharField(blank=True, db_index=True, max_length=64)),
                ("longest_ms", models.PositiveBigIntegerField(default=0)),
                ("pastes", models.PositiveIntegerField(default=0)),
                ("is_flagged", models.BooleanField(default=False)),
            ],
        ),
        migrations.CreateModel(
            name="Comment",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                (
                    "assignment",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="comments",
                        to="annotation.assignment",
                    ),
                ),
                (
                    "example",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="comments",
                        to="annotation.example",
                    ),
                ),
                ("text", models.TextField()),
                ("written_at", models.DateTimeField()),
            ],
            options={
                "ordering": ["-id"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("text", ""), _negated=True), name="comment_not_empty"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Payout",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                (
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="payouts",
                        to="annotation.study",
                    ),
                ),
                ("way", models.CharField(max_length=4)),
                ("state", models.CharField(max_length=7)),
                ("remote_id", models.CharField(blank=True, max_length=100)),
                (
                    "author",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("made_at", models.DateTimeField()),
            ],
            options={
                "ordering": ["-id"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("way__in", ["file", "api"])), name="payout_way_known"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("state__in", ["sending", "sent", "unknown", "refused"])
                        ),
                        name="payout_state_known",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("remote_id", ""), _negated=True),
                        fields=("remote_id",),
                        name="payout_remote_once",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="PaymentLine",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                (
                    "assignment",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="payment_lines",
                        to="annotation.assignment",
                    ),
                ),
                ("purpose", models.CharField(max_length=5)),
                ("correction", models.PositiveSmallIntegerField(default=0)),
                ("amount", models.DecimalField(decimal_places=2, max_digits=8)),
                ("reason", models.TextField(blank=True)),
                (
                    "payout",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="lines",
                        to="annotation.payout",
                    ),
                ),
                (
                    "author",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("made_at", models.DateTimeField()),
            ],
            options={
                "ordering": ["id"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("assignment", "purpose", "correction"), name="payment_line_once"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("purpose__in", ["due", "bonus"])),
                        name="payment_purpose_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("amount__gt", 0),
                            models.Q(("amount__lt", 0), ("correction__gt", 0)),
                            _connector="OR",
                        ),
                        name="payment_first_positive",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("correction", 0),
                            models.Q(("purpose", "due"), _negated=True),
                            models.Q(("reason", ""), _negated=True),
                            _connector="OR",
                        ),
                        name="payment_correction_has_reason",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("payout__isnull", False), ("purpose", "bonus")),
                            models.Q(("payout__isnull", True), ("purpose", "due")),
                            _connector="OR",
                        ),
                        name="payment_bonus_by_payout",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="JoinCount",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                (
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="join_counts",
                        to="annotation.study",
                    ),
                ),
                ("hour", models.DateTimeField()),
                ("answer", models.CharField(max_length=12)),
                ("count", models.PositiveIntegerField(default=0)),
            ],
            options={
                "ordering": ["study", "hour", "answer"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("study", "hour", "answer"), name="join_count_once"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("answer__in", ["declined", "full"])),
                        name="join_count_answer_known",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Place",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                (
                    "batch",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="places",
                        to="annotation.batch",
                    ),
                ),
                ("number", models.PositiveIntegerField()),
                ("simulated", models.BooleanField(default=False)),
                (
                    "holder",
                    models.OneToOneField(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="place",
                        to="annotation.assignment",
                    ),
                ),
                ("lease_until", models.DateTimeField(blank=True, null=True)),
                ("kept", models.BooleanField(default=False)),
            ],
            options={
                "ordering": ["batch", "simulated", "number"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("batch", "simulated", "number"), name="place_once"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("kept", False), ("holder__isnull", False), _connector="OR"
                        ),
                        name="place_kept_by_somebody",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ProlificStudy",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                (
                    "study",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="prolific",
                        to="annotation.study",
                    ),
                ),
                ("token", models.CharField(blank=True, max_length=300)),
                ("webhook_secret", models.CharField(blank=True, max_length=300)),
                (
                    "hook_token",
                    models.CharField(
                        default=annotation.models.study.new_token,
                        editable=False,
                        max_length=40,
                        unique=True,
                    ),
                ),
                ("workspace_id", models.CharField(blank=True, max_length=60)),
                ("project_id", models.CharField(blank=True, max_length=60)),
                ("group_id", models.CharField(blank=True, max_length=60)),
                ("remote_id", models.CharField(blank=True, max_length=60)),
                ("subscription_id", models.CharField(blank=True, max_length=60)),
                ("polled_at", models.DateTimeField(blank=True, null=True)),
                ("problem", models.TextField(blank=True)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("remote_id", ""), _negated=True),
                        fields=("remote_id",),
                        name="prolific_study_once",
                    )
                ]
            },
        ),
        migrations.CreateModel(
            name="Submission",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                (
                    "assignment",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="submission",
                        to="annotation.assignment",
                    ),
                ),
                ("status", models.CharField(max_length=18)),
                ("status_at", models.DateTimeField()),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "status__in",
                                [
                                    "RESERVED",
                                    "ACTIVE",
                                    "TIMED-OUT",
                                    "AWAITING REVIEW",
                                    "APPROVED",
                                    "PARTIALLY APPROVED",
                                    "RETURNED",
                                    "REJECTED",
                                    "SCREENED OUT",
                                ],
                            )
                        ),
                        name="submission_status_known",
                    )
                ]
            },
        ),
        migrations.AddField(
            model_name="itemset",
            name="examples",
            field=models.ManyToManyField(
                related_name="item_sets", through="annotation.Item", to="annotation.example"
            ),
        ),
    ]
