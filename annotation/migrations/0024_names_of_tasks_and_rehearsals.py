import django.db.models.deletion
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

# Of the tasks that the project describes itself.
NAMES = {
    "conll03": "CoNLL03",
    "mnli": "MNLI",
    "record": "ReCoRD",
    "squadv2": "SQuADv2",
    "sst2": "SST-2",
    "wikiann": "WikiANN",
}


def fill_names(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    tasks = apps.get_model("annotation", "Task").objects
    for slug, name in NAMES.items():
        tasks.filter(slug=slug, name="").update(name=name)


def leave_deleting_to_the_locks(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """They are made after the migrations, and know rehearsals."""
    if schema_editor.connection.vendor == "sqlite":
        schema_editor.execute("DROP TRIGGER IF EXISTS annotation_judgement_no_delete")


class Migration(migrations.Migration):
    dependencies = [("annotation", "0023_codes_for_other_devices")]

    operations = [
        migrations.AddField(
            model_name="task",
            name="name",
            field=models.CharField(
                blank=True,
                help_text=("The task's name in papers, such as SST-2; annotators don't see it."),
                max_length=80,
            ),
        ),
        migrations.AlterField(
            model_name="task",
            name="title",
            field=models.CharField(
                blank=True, help_text="What annotators see above their work.", max_length=200
            ),
        ),
        migrations.RunPython(fill_names, migrations.RunPython.noop),
        migrations.AddField(
            model_name="study",
            name="is_rehearsal",
            field=models.BooleanField(default=False, editable=False),
        ),
        migrations.AddField(
            model_name="study",
            name="rehearses",
            field=models.ForeignKey(
                blank=True,
                editable=False,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="rehearsals",
                to="annotation.study",
            ),
        ),
        migrations.AddConstraint(
            model_name="study",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("rehearses__isnull", True), ("is_rehearsal", True), _connector="OR"
                ),
                name="study_rehearsal_of_another",
            ),
        ),
        migrations.RunPython(leave_deleting_to_the_locks, migrations.RunPython.noop),
    ]
