import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    replaces = [
        ("scoring", "0001_runs_and_comparisons"),
        ("scoring", "0002_complete_runs_are_final"),
        ("scoring", "0003_decisions_on_the_leaderboard"),
        ("scoring", "0004_parts_of_a_comparison"),
        ("scoring", "0005_plainer_help_texts"),
        ("scoring", "0006_finished_runs_of_a_day"),
        ("scoring", "0008_kept_boards"),
        ("scoring", "0009_imported_runs_are_published_at_once"),
        ("scoring", "0010_replies"),
        ("scoring", "0011_imported_studies"),
        ("scoring", "0012_names_of_fields"),
    ]

    initial = True

    dependencies = [
        ("annotation", "0001_initial"),
        ("auth", "__first__"),
    ]

    operations = [
        migrations.CreateModel(
            name="Run",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                (
                    "task",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="runs",
                        to="annotation.task",
                    ),
                ),
                (
                    "test_set",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="runs",
                        to="annotation.itemset",
                    ),
                ),
                ("system", models.CharField(max_length=200)),
                ("method", models.CharField(max_length=5)),
                ("parameters", models.CharField(blank=True, max_length=30)),
                ("shots", models.PositiveIntegerField(blank=True, null=True)),
                ("split", models.PositiveIntegerField(blank=True, null=True)),
                ("episode", models.PositiveIntegerField(blank=True, null=True)),
                ("citation", models.TextField(blank=True)),
                ("url", models.CharField(blank=True, max_length=500)),
                ("uses_labelled", models.BooleanField(blank=True, null=True)),
                ("uses_unlabelled", models.BooleanField(blank=True, null=True)),
                ("protocol", models.JSONField(blank=True, default=list)),
                ("source_format", models.CharField(max_length=40)),
                ("source_name", models.CharField(blank=True, max_length=300)),
                ("checksum", models.CharField(blank=True, max_length=64)),
                ("state", models.CharField(default="uploading", max_length=9)),
                (
                    "owner",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("report", models.JSONField(blank=True, default=dict)),
            ],
            options={
                "ordering": ["task", "system", "method", "shots", "split", "episode", "id"],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("state", "complete")),
                        fields=("checksum",),
                        name="run_content_once",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("state", "staged"),
                            models.Q(("checksum", ""), ("state", "uploading")),
                            models.Q(
                                models.Q(("state", "complete")),
                                models.Q(("checksum", ""), _negated=True),
                            ),
                            _connector="OR",
                        ),
                        name="run_complete_by_checksum",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("method__in", ["FT", "PT", "ICL", "other"])),
                        name="run_method_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("system", ""), _negated=True),
                        name="run_names_its_system",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Prediction",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="predictions",
                        to="scoring.run",
                    ),
                ),
                (
                    "example",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="predictions",
                        to="annotation.example",
                    ),
                ),
                ("answer", models.JSONField()),
            ],
            options={
                "ordering": ["run_id", "example_id"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("run", "example"), name="prediction_once_in_run"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="FinishedRun",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                (
                    "owner",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("items_key", models.CharField(max_length=64)),
                ("finished_at", models.DateTimeField()),
            ],
            options={
                "indexes": [
                    models.Index(
                        fields=["owner", "items_key", "finished_at"], name="finished_run_by_day"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="BoardDecision",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                (
                    "run",
                    models.OneToOneField(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="board_decision",
                        to="scoring.run",
                    ),
                ),
                (
                    "study",
                    models.OneToOneField(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="board_decision",
                        to="annotation.study",
                    ),
                ),
                ("stands", models.BooleanField()),
                (
                    "author",
                    models.ForeignKey(
                        editable=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("decided_at", models.DateTimeField()),
            ],
            options={
                "ordering": ["-decided_at", "-id"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("run__isnull", False), ("study__isnull", True)),
                            models.Q(("run__isnull", True), ("study__isnull", False)),
                            _connector="OR",
                        ),
                        name="board_decision_of_one",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ImportedStudy",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                ("slug", models.CharField(max_length=80)),
                ("title", models.CharField(max_length=200)),
                ("benchmark", models.CharField(max_length=80)),
                ("checksum", models.CharField(max_length=64)),
                ("about", models.JSONField()),
                ("figures", models.JSONField()),
                (
                    "owner",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("imported_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "ordering": ["-id"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("owner", "checksum"), name="imported_study_once"
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("owner__isnull", True)),
                        fields=("checksum",),
                        name="imported_study_of_nobody_once",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ScoreVector",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                (
                    "assignment",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="score_vectors",
                        to="annotation.assignment",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="score_vectors",
                        to="scoring.run",
                    ),
                ),
                (
                    "item_set",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="annotation.itemset",
                    ),
                ),
                ("references", models.CharField(max_length=3)),
                ("gold_version", models.PositiveIntegerField()),
                ("scorer_version", models.PositiveIntegerField()),
                ("fingerprint", models.CharField(max_length=64)),
                ("scores", models.BinaryField()),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("assignment__isnull", False), ("run__isnull", True)),
                            models.Q(("assignment__isnull", True), ("run__isnull", False)),
                            _connector="OR",
                        ),
                        name="score_vector_of_one",
                    ),
                    models.UniqueConstraint(
                        fields=(
                            "assignment",
                            "item_set",
                            "references",
                            "gold_version",
                            "scorer_version",
                        ),
                        name="score_vector_of_assignment_once",
                    ),
                    models.UniqueConstraint(
                        fields=("run", "item_set", "references", "gold_version", "scorer_version"),
                        name="score_vector_of_run_once",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Comparison",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                ("part", models.CharField(max_length=8)),
                (
                    "study",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="annotation.study",
                    ),
                ),
                (
                    "benchmark",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="annotation.benchmark",
                    ),
                ),
                ("parameters_key", models.CharField(max_length=64)),
                ("parameters", models.JSONField()),
                ("seed", models.PositiveBigIntegerField()),
                ("scorer_version", models.PositiveIntegerField()),
                ("fingerprint", models.CharField(blank=True, max_length=64)),
                ("result", models.JSONField(default=dict)),
                ("computed_at", models.DateTimeField(null=True)),
                (
                    "job",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="annotation.job",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("benchmark__isnull", True), ("study__isnull", False)),
                            models.Q(("benchmark__isnull", False), ("study__isnull", True)),
                            _connector="OR",
                        ),
                        name="comparison_of_one",
                    ),
                    models.UniqueConstraint(
                        fields=("study", "part", "parameters_key"), name="comparison_of_study_once"
                    ),
                    models.UniqueConstraint(
                        fields=("benchmark", "part", "parameters_key"),
                        name="comparison_of_benchmark_once",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("part__in", ["table", "analysis", "board"])),
                        name="comparison_part_known",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Leaderboard",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                (
                    "benchmark",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="leaderboard",
                        to="annotation.benchmark",
                    ),
                ),
                ("is_public", models.BooleanField(default=False)),
            ],
        ),
        migrations.CreateModel(
            name="Reply",
            fields=[
                (
                    "prediction",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="reply",
                        serialize=False,
                        to="scoring.prediction",
                    ),
                ),
                ("text", models.TextField(blank=True)),
                ("version", models.CharField(blank=True, max_length=200)),
                ("stop_reason", models.CharField(blank=True, max_length=40)),
                ("input_tokens", models.PositiveIntegerField(blank=True, null=True)),
                ("output_tokens", models.PositiveIntegerField(blank=True, null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
        ),
        migrations.CreateModel(
            name="ReportedScore",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                (
                    "benchmark",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="reported_scores",
                        to="annotation.benchmark",
                    ),
                ),
                ("task", models.SlugField(max_length=80)),
                ("kind", models.CharField(max_length=5)),
                ("system", models.CharField(max_length=200)),
                ("method", models.CharField(blank=True, max_length=5)),
                ("parameters", models.CharField(blank=True, max_length=30)),
                ("shots", models.PositiveIntegerField(blank=True, null=True)),
                ("mean", models.FloatField()),
                ("sd", models.FloatField(blank=True, null=True)),
                ("n", models.PositiveIntegerField(blank=True, null=True)),
                ("references", models.CharField(default="unknown", max_length=7)),
                ("source", models.CharField(max_length=300)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "ordering": ["benchmark", "task", "kind", "system", "method", "shots", "id"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=(
                            "benchmark",
                            "task",
                            "kind",
                            "system",
                            "method",
                            "parameters",
                            "references",
                            "source",
                            "shots",
                        ),
                        name="reported_score_once",
                        violation_error_message="This figure is stored already: delete the stored one to correct it.",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("shots__isnull", True)),
                        fields=(
                            "benchmark",
                            "task",
                            "kind",
                            "system",
                            "method",
                            "parameters",
                            "references",
                            "source",
                        ),
                        name="reported_score_supervised_once",
                        violation_error_message="This figure is stored already: delete the stored one to correct it.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("kind__in", ["human", "model"])),
                        name="reported_score_kind_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("method", ""),
                            ("method__in", ["FT", "PT", "ICL", "other"]),
                            _connector="OR",
                        ),
                        name="reported_score_method_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("references__in", ["set", "any", "unknown"])),
                        name="reported_score_references_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("mean__gte", 0), ("mean__lte", 100)),
                        name="reported_score_in_percent",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("sd__isnull", True), ("sd__gte", 0), _connector="OR"),
                        name="reported_score_sd_not_negative",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("source", ""), _negated=True),
                        name="reported_score_names_its_source",
                    ),
                ],
            },
        ),
    ]
