"""No table changes. After this migration, as after each, the triggers of models/locks.py are made
anew: so a database has those that keep paid time and the log of changes, or is not migrated."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0018_end_named_before"),
    ]
