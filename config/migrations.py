"""What the migrations know of the models, and which databases they can go on with. They know no
words of fields: no database holds what one is called, so rewording one needs no migration."""

from collections.abc import Iterable
from functools import cache
from typing import Any

from django.db import DatabaseError, connection, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.autodetector import MigrationAutodetector
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.db.migrations.state import ModelState, ProjectState

from annotation.access.identity import KEY_CHANGED, remember_key
from annotation.models.errors import BadInput

Key = tuple[str, str]  # an app and the name of a migration

OURS = ("annotation", "scoring")
WORDS_OF_FIELDS = ("verbose_name", "help_text", "choices")
WORDS_OF_MODELS = ("verbose_name", "verbose_name_plural")
# The last commit with the chain of migrations that today's first ones take the place of.
LAST_OF_FORMER_CHAIN = "fc16fd9e492e8837b04536ddb2cc975014294205"
FIRST_OF_TODAY = ("annotation", "0001_initial")


class TablesAlone(MigrationAutodetector):
    def __init__(self, from_state: ProjectState, to_state: ProjectState, *args: Any) -> None:
        for model in to_state.models.values():
            if model.app_label in OURS:
                _forget_words(model)
        super().__init__(from_state, to_state, *args)


def _forget_words(model: ModelState) -> None:
    for word in WORDS_OF_MODELS:
        model.options.pop(word, None)
    for name, field in model.fields.items():
        _name, _path, arguments, options = field.deconstruct()
        kept = {key: value for key, value in options.items() if key not in WORDS_OF_FIELDS}
        model.fields[name] = type(field)(*arguments, **kept)


# The end of that chain, which version 1.0.0 lacks, and what it adds.
END_OF_FORMER_CHAIN = ("annotation", "0033_expected_seconds")
ADDED_AT_ITS_END = """ALTER TABLE annotation_study ADD COLUMN expected_seconds double precision NULL
CONSTRAINT study_expected_seconds_positive
CHECK (expected_seconds IS NULL OR expected_seconds > 0)"""


def complete_former_chain(database: BaseDatabaseWrapper) -> None:
    """Bring a database of version 1.0.0 to the end of the former chain."""
    recorder = MigrationRecorder(database)
    former = set(MigrationLoader(None).replacements[FIRST_OF_TODAY].replaces)
    if former - set(recorder.applied_migrations()) == {END_OF_FORMER_CHAIN}:
        with transaction.atomic(database.alias), database.cursor() as cursor:
            cursor.execute(ADDED_AT_ITS_END)
            recorder.record_applied(*END_OF_FORMER_CHAIN)


def in_todays_names(applied: Iterable[Key]) -> set[Key]:
    """What was applied, each chain of former migrations as the one that takes its place. Raises
    BadInput where a chain was left before its end."""
    known = set(applied)
    for key, migration in MigrationLoader(None).replacements.items():
        former = set(migration.replaces)
        if not former & known:
            continue
        if key not in known and not former <= known:
            raise BadInput(
                "The database was made by an earlier version, whose last migrations it lacks: run "
                f"`manage.py migrate` of commit {LAST_OF_FORMER_CHAIN} on it, then that of this "
                "version."
            )
        known = known - former | {key}
    return known


EARLIER = (
    "The database was not migrated to this version of Baseliner: run `manage.py migrate` of this "
    "version on it, then start again."
)
AWAY = "The database can't be reached with this DATABASE_URL:"
LATER = "The database was migrated by a later version of Baseliner: start that version, not this."


def misfit() -> str:
    """Why this code can't work on the database as it is migrated; empty where it can."""
    newest, known = _of_this_code()
    applied = set(MigrationRecorder(connection).applied_migrations())
    if {key for key in applied if key[0] in OURS} - known:
        return LATER
    return "" if newest <= applied else EARLIER


def why_refused() -> str:
    """Why the database refused a command, as far as that is for whoever runs it to mend."""
    try:
        return misfit()
    except DatabaseError as problem:
        return " ".join([AWAY, *str(problem).split()])


@cache
def _of_this_code() -> tuple[set[Key], set[Key]]:
    """The newest migration of each app, and all that there are or were."""
    loader = MigrationLoader(None)
    former = [key for migration in loader.replacements.values() for key in migration.replaces]
    return set(loader.graph.leaf_nodes()), {*loader.disk_migrations, *former}


def refuse_another_database() -> None:
    """Stops the start of a web server or worker whose version or identity key is not the
    database's."""
    try:
        wrong = misfit() or ("" if remember_key() else KEY_CHANGED)
    except DatabaseError:
        return  # A database that is away may come back, and then each page asks again.
    finally:
        connections.close_all()
    if wrong:
        raise SystemExit(wrong)
