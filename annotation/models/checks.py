"""What must hold before the application serves anybody."""

from collections.abc import Sequence
from typing import Any

from django.core.checks import CheckMessage, Error, Tags, register
from django.db import connections

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
            Error(
                f"The trigger {name} is missing: judgements could be changed.",
                hint="Run manage.py migrate.",
                id="annotation.E001",
            )
            for name in missing_triggers(connection)
        ]
    return errors
