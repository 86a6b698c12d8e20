"""Triggers that make complete runs and frozen claims final: the database itself refuses changes.

A whole run can be deleted, unless frozen claims rest on it; its predictions cannot be edited or
added to. Frozen claims go with their rehearsal alone. The refusals surface in Django as
IntegrityError.

Conditions name other tables, and SQLite remakes no table that a trigger names: so they are lifted
while a migration runs, and made again after it.
"""

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper

from annotation.models.locks import Lock, Triggers, create_locks, drop_locks, triggers_of

REFUSAL = "A complete run is final: import another file as another run."
FROZEN = "What a study claims was frozen: it is never changed or deleted."

_OF_REHEARSAL = """EXISTS (
    SELECT 1 FROM annotation_study WHERE id = OLD.study_id AND is_rehearsal)"""
_RUN_OF_REHEARSAL = """EXISTS (
    SELECT 1 FROM scoring_frozenclaims JOIN annotation_study
        ON annotation_study.id = scoring_frozenclaims.study_id
    WHERE scoring_frozenclaims.id = OLD.claims_id AND is_rehearsal)"""


def _lock(table: str, called: str, verb: str, condition: str = "1 = 1") -> Lock:
    refusal = FROZEN if "frozen" in table + called else REFUSAL
    return Lock(f"scoring_{table}", verb, condition, refusal=refusal, called=called)


LOCKS = (
    _lock("run", "no_change", "UPDATE", "OLD.state = 'complete'"),
    _lock("prediction", "no_change", "UPDATE"),
    _lock("reply", "no_change", "UPDATE"),
    _lock(
        *("prediction", "no_addition", "INSERT"),
        "(SELECT state FROM scoring_run WHERE id = {row}.run_id) = 'complete'",
    ),
    _lock("frozenclaims", "no_change", "UPDATE"),
    _lock("frozenclaims", "no_deletion", "DELETE", f"NOT {_OF_REHEARSAL}"),
    _lock("frozenrun", "no_change", "UPDATE"),
    _lock("frozenrun", "no_deletion", "DELETE", f"NOT {_RUN_OF_REHEARSAL}"),
    # Also for programs that don't look at references.
    _lock(
        *("run", "no_deletion_if_frozen", "DELETE"),
        "EXISTS (SELECT 1 FROM scoring_frozenrun WHERE run_id = OLD.id)",
    ),
)

# SQLite's REPLACE deletes what is in its way, and without recursive_triggers asks no trigger.
LOCKS_OF_SQLITE = (
    _lock(
        *("run", "no_replacement", "INSERT"),
        "EXISTS (SELECT 1 FROM scoring_run AS present WHERE present.state = 'complete' "
        "AND (present.id = NEW.id OR present.checksum = NEW.checksum))",
    ),
    _lock(
        *("run", "no_replacement_by_update", "UPDATE"),
        "NEW.id <> OLD.id OR EXISTS (SELECT 1 FROM scoring_run AS present "
        "WHERE present.state = 'complete' AND present.checksum = NEW.checksum "
        "AND present.id <> OLD.id)",
    ),
    _lock(
        *("frozenclaims", "no_replacement", "INSERT"),
        "EXISTS (SELECT 1 FROM scoring_frozenclaims AS present WHERE present.id = NEW.id "
        "OR (present.study_id = NEW.study_id AND present.version = NEW.version))",
    ),
    _lock(
        *("frozenrun", "no_replacement", "INSERT"),
        "EXISTS (SELECT 1 FROM scoring_frozenrun AS present WHERE present.id = NEW.id "
        "OR (present.claims_id = NEW.claims_id AND present.run_id = NEW.run_id))",
    ),
)

LOCKS_OF_POSTGRES = (
    _lock("frozenclaims", "no_truncate", "TRUNCATE"),
    _lock("frozenrun", "no_truncate", "TRUNCATE"),
)


def create_triggers(connection: BaseDatabaseWrapper) -> None:
    create_locks(connection, _triggers(connection.vendor))


def drop_triggers(connection: BaseDatabaseWrapper) -> None:
    drop_locks(connection, _triggers(connection.vendor))


def lift_triggers(
    sender: AppConfig, using: str, plan: Sequence[object] = (), **kwargs: Any
) -> None:
    """Drop the triggers before a migration, where the database needs it."""
    if plan and connections[using].vendor == "sqlite":
        drop_triggers(connections[using])


def restore_triggers(sender: AppConfig, using: str, **kwargs: Any) -> None:
    create_triggers(connections[using])


def _triggers(vendor: str) -> Triggers:
    more = LOCKS_OF_SQLITE if vendor == "sqlite" else LOCKS_OF_POSTGRES
    return triggers_of((*LOCKS, *more), vendor)
