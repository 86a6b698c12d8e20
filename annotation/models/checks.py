"""What must hold before the application serves anybody.

Warnings, since errors would stop the migration that makes up for them.
"""

from collections.abc import Sequence
from typing import Any

from django.core.checks import CheckMessage, Tags, Warning, register
from django.db import connections

from annotation.models.locks import missing_locks
from annotation.models.triggers import FINAL_TABLES, missing_triggers


@register(Tags.database)
def judgements_are_final(
    databases: Sequence[str] | None = None, **kwargs: Any
) -> list[CheckMessage]:
    errors: list[CheckMessage] = []
    for alias in databases or []:
        connection = connections[alias]
        if not set(FINAL_TABLES) <= set(connection.introspection.table_names()):
            continue  # not migrated yet
        errors += [
            Warning(
                f"The trigger {name} is missing: judgements could be changed.",
                hint="Run manage.py migrate.",
                id="annotation.W001",
            )
            for name in missing_triggers(connection)
        ]
        errors += [
            Warning(
                f"The trigger {name} is missing: what a started study holds could be changed.",
                hint="Run manage.py migrate.",
                id="annotation.W002",
            )
            for name in missing_locks(connection)
        ]
    return errors
