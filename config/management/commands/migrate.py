"""Django's `migrate`, one at a time: several web servers may start at once."""

import fcntl
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

from django.conf import settings
from django.core.management import CommandError
from django.core.management.commands import migrate
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.recorder import MigrationRecorder

from annotation.models.errors import BadInput
from config.migrations import TablesAlone, complete_former_chain, in_todays_names

# Any number that nothing else locks.
LOCK = 7_226_004_311
MISSING_TRIGGERS = ("annotation.W001", "annotation.W002")


class Command(migrate.Command):
    autodetector = TablesAlone

    def check(self, *args: Any, **kwargs: Any) -> None:
        """Run the checks without those of missing triggers: it is about to make them."""
        silenced = settings.SILENCED_SYSTEM_CHECKS
        settings.SILENCED_SYSTEM_CHECKS = [*silenced, *MISSING_TRIGGERS]
        try:
            super().check(*args, **kwargs)
        finally:
            settings.SILENCED_SYSTEM_CHECKS = silenced

    def handle(self, *args: Any, **options: Any) -> None:
        connection = connections[options["database"]]
        with alone(connection):
            if not (options["plan"] or options["check_unapplied"]):
                complete_former_chain(connection)
            try:
                in_todays_names(MigrationRecorder(connection).applied_migrations())
            except BadInput as problem:
                raise CommandError(str(problem)) from problem
            super().handle(*args, **options)


@contextmanager
def alone(connection: BaseDatabaseWrapper) -> Iterator[None]:
    """Whoever comes second waits, and finds everything done."""
    name = connection.settings_dict["NAME"]
    if connection.vendor != "sqlite":
        # A connection of its own: migrations close and open theirs.
        with closing(connection.copy()) as holding:
            with holding.cursor() as cursor:
                cursor.execute("SET lock_timeout = 0; SET statement_timeout = 0")
                cursor.execute("SELECT pg_advisory_lock(%s)", [LOCK])
            yield
    elif name.startswith("file:") or name == ":memory:":
        yield  # a test's, which nobody shares
    else:
        with open(f"{name}.migrating", "w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield
