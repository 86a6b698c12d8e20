"""Ends what still waits for a consent, and forgets whoever has never given one.

From here on a link takes nothing before the consent. In a migration of its own: PostgreSQL alters
no table in the transaction that has changed its rows.
"""

from secrets import token_hex

from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps
from django.utils import timezone


def end_what_waits(apps: StateApps, editor: BaseDatabaseSchemaEditor) -> None:
    assignments = apps.get_model("annotation", "Assignment").objects
    places = apps.get_model("annotation", "Place").objects
    now = timezone.now()
    waiting = assignments.filter(state="consent")
    places.filter(holder__in=waiting).update(holder=None, lease_until=None)
    waiting.update(state="finished", outcome="declined", finished_at=now, amount=0)


def forget_who_never_consented(apps: StateApps, editor: BaseDatabaseSchemaEditor) -> None:
    """Whoever has no assignment goes; of the others' ids nothing is left, not even a hash."""
    annotators = apps.get_model("annotation", "Annotator").objects
    assignments = apps.get_model("annotation", "Assignment").objects
    people = annotators.filter(channel__is_simulated=False, erased_at=None)
    people.filter(assignments=None).delete()
    consented = assignments.exclude(consented_at=None).values("annotator")
    for person in people.exclude(pk__in=consented):
        assignments.filter(annotator=person).update(submission_id="")
        annotators.filter(pk=person.pk).update(
            external_id="", identity_hash=token_hex(32), erased_at=timezone.now()
        )


class Migration(migrations.Migration):
    dependencies = [("annotation", "0009_fingerprint_of_the_identity_key")]

    operations = [
        migrations.RunPython(end_what_waits, migrations.RunPython.noop),
        migrations.RunPython(forget_who_never_consented, migrations.RunPython.noop),
    ]
