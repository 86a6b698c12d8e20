"""A pytest plugin: the first run migrates a database, the others start with a copy of it, until a
migration or a model changes. SQLite's is kept in var/, PostgreSQL's on its server."""

import fcntl
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import django
import pytest
from django.apps import apps
from django.conf import settings
from django.db.backends.base.creation import BaseDatabaseCreation
from django.db.migrations.loader import MigrationLoader

from annotation.access.identity import remember_key
from annotation.models import IdentityKey

FOLDER = Path("var").absolute()
NAME = "migrated-{}.sqlite3"
# Each work tree has one of its own; PostgreSQL's names are no longer than 63 bytes.
TEMPLATE = f"test_migrated_{sha256(bytes(FOLDER)).hexdigest()[:16]}_"
# Of an app: what decides what a new database holds.
DECIDING = ("apps.py", "migrations/*.py", "models.py", "models/*.py")

migrate = BaseDatabaseCreation.create_test_db


def create_test_db(creation: Any, *args: Any, **options: Any) -> str:
    connection = creation.connection
    name = creation._get_test_db_name()
    if connection.vendor == "postgresql":
        _copy_template(creation, name)
    else:
        with _one_at_a_time():
            if not _migrated().exists():
                migrate(creation, *args, **options)
                _keep(connection.connection)
                return name
        connection.close()
        _copy_to(name)
    settings.DATABASES[connection.alias]["NAME"] = connection.settings_dict["NAME"] = name
    connection.ensure_connection()
    # Their defaults are those of now, not what a test that sets a clock is the first to load.
    MigrationLoader(None)
    # The copy has that of the process that migrated it.
    IdentityKey.objects.all().delete()
    remember_key()
    return name


def _copy_template(creation: Any, name: str) -> None:
    """One worker migrates where there is no template yet, and the others wait for it."""
    template = TEMPLATE + _digest()
    with creation._nodb_cursor() as server:
        server.execute("SELECT pg_advisory_lock(hashtext(%s))", [TEMPLATE])
        server.execute("SELECT datname FROM pg_database WHERE starts_with(datname, %s)", [TEMPLATE])
        kept = {kept for (kept,) in server.fetchall()}
        if template not in kept:
            _migrate_to(creation, template)
        for outdated in kept - {template}:
            # What a killed run had begun has another name by now.
            server.execute(f"DROP DATABASE IF EXISTS {outdated}")
        # A run that was killed leaves its own behind.
        server.execute(f"DROP DATABASE IF EXISTS {name}")
        server.execute(f"CREATE DATABASE {name} TEMPLATE {template}")


def _migrate_to(creation: Any, template: str) -> None:
    """Under another name first: what is called the template is whole."""
    names = creation.connection.settings_dict["TEST"]
    name, names["NAME"] = names["NAME"], f"{template}_part"
    part = migrate(creation, verbosity=0, autoclobber=True, serialize=False)
    creation.connection.close()
    names["NAME"] = name
    with creation._nodb_cursor() as server:
        server.execute(f"ALTER DATABASE {part} RENAME TO {template}")


def begin_with_copy(file: Path) -> None:
    """For what runs in processes of its own: `migrate` has little left to do there. Where no copy
    is kept, it has to do all."""
    if _migrated().exists():
        _copy_to(file)
        with closing(sqlite3.connect(file)) as copy, copy:
            copy.execute("DELETE FROM annotation_identitykey")  # of this process


def _copy_to(file: str | Path) -> None:
    with closing(sqlite3.connect(_migrated())) as kept, closing(sqlite3.connect(file)) as copy:
        kept.backup(copy)


def _migrated() -> Path:
    return FOLDER / NAME.format(_digest())


@cache
def _digest() -> str:
    digest = sha256(django.__version__.encode())
    for app in apps.get_app_configs():
        for pattern in DECIDING:
            for file in sorted(Path(app.path).glob(pattern)):
                digest.update(file.name.encode() + file.read_bytes())
    return digest.hexdigest()[:16]


@contextmanager
def _one_at_a_time() -> Iterator[None]:
    """The first worker migrates, and the others wait for what it keeps."""
    FOLDER.mkdir(exist_ok=True)
    with (FOLDER / "migrating").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _keep(migrated: sqlite3.Connection) -> None:
    outdated = set(FOLDER.glob(NAME.format("*"))) - {_migrated()}
    part = FOLDER / "migrated-in-part"
    with closing(sqlite3.connect(part)) as copy:
        migrated.backup(copy)
    part.replace(_migrated())
    for file in outdated:
        file.unlink(missing_ok=True)


def pytest_configure(config: pytest.Config) -> None:
    creation: Any = BaseDatabaseCreation
    creation.create_test_db = create_test_db
