import os
import subprocess
import sys
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest
from django.conf import settings as installed
from django.core.management import call_command
from pytest_django import Settings

from tests.config.environment import untouched


def run(*command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """A Python with only these environment variables."""
    return subprocess.run(
        [sys.executable, *command],
        cwd=installed.BASE_DIR,
        env=untouched(DJANGO_SETTINGS_MODULE="config.settings", **variables),
        capture_output=True,
        text=True,
        check=False,
    )


def settings_by(**variables: str) -> Any:
    """The settings, read anew with only these environment variables."""
    with mock.patch.dict(os.environ, untouched(**variables), clear=True):
        return SimpleNamespace(**run_path(str(installed.BASE_DIR / "config" / "settings.py")))


@pytest.fixture
def variables(tmp_path: Path) -> dict[str, str]:
    return {"DATA_DIR": str(tmp_path)}


@pytest.fixture
def production(variables: dict[str, str]) -> dict[str, str]:
    return {**variables, "DEBUG": "0", "SECRET_KEY": "k" * 64, "IDENTITY_KEY": "i" * 64}


def test_starts_without_any_variable(variables: dict[str, str], tmp_path: Path) -> None:
    read = settings_by(**variables)
    assert (read.IS_LOCAL, read.DEBUG) == (True, False)
    assert read.DATABASES["default"]["NAME"] == f"{tmp_path}/baseliner.sqlite3"


def test_notes_queries_and_shows_code_only_when_asked_and_never_in_production(
    variables: dict[str, str], production: dict[str, str]
) -> None:
    assert settings_by(**variables, DEBUG_PAGES="1").DEBUG is True
    assert settings_by(**production, DEBUG_PAGES="1").DEBUG is False


def test_keeps_one_generated_secret_on_ones_own_machine(variables: dict[str, str]) -> None:
    assert settings_by(**variables).SECRET_KEY == settings_by(**variables).SECRET_KEY


def test_pages_give_a_statement_less_time_than_jobs_do(variables: dict[str, str]) -> None:
    url = "postgres://127.0.0.1:1/none"
    asked = "from django.conf import settings as s; print(s.DATABASES['default']['OPTIONS'])"
    for imported, limit in (("wsgi", "30s"), ("celery", "3600s")):
        done = run("-c", f"import config.{imported}; {asked}", **variables, DATABASE_URL=url)
        assert f"statement_timeout={limit}" in done.stdout, done.stderr


@pytest.mark.parametrize(
    "command",
    [
        ["manage.py", "check"],
        ["-m", "celery", "--app", "config", "report"],
        ["-c", "import config.wsgi"],
    ],
    ids=["manage", "worker", "web"],
)
def test_stops_the_start_in_production_without_a_secret(
    command: list[str], variables: dict[str, str]
) -> None:
    done = run(*command, DEBUG="0", **variables)
    assert done.returncode == 1
    assert done.stderr == (
        "SECRET_KEY is not set: production (DEBUG=0) signs with a long random value "
        "that only you know.\n"
    )


def test_takes_no_kept_secret_into_production(variables: dict[str, str]) -> None:
    settings_by(**variables)
    assert run("manage.py", "check", DEBUG="0", **variables).returncode == 1


def test_finds_nothing_wrong_with_itself_in_production(production: dict[str, str]) -> None:
    done = run("manage.py", "check", "--fail-level", "WARNING", **production)
    assert done.returncode == 0, done.stderr


def test_says_what_to_do_about_identities_in_production(
    production: dict[str, str], settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.IDENTITY_KEY = settings_by(**{**production, "IDENTITY_KEY": ""}).IDENTITY_KEY
    call_command("check")
    assert "set IDENTITY_KEY to the present SECRET_KEY" in capsys.readouterr().err


def test_keeps_the_secret_of_before_for_identities(
    variables: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "secret-key").write_text("of before\n")
    assert settings_by(**variables).IDENTITY_KEY == "of before"
    (tmp_path / "secret-key").write_text("renewed\n")
    read = settings_by(**variables)
    assert (read.SECRET_KEY, read.IDENTITY_KEY) == ("renewed", "of before")


def test_is_strict_in_production(production: dict[str, str]) -> None:
    read = settings_by(**production)
    assert (read.SESSION_COOKIE_SECURE, read.CSRF_COOKIE_SECURE) == (True, True)
    assert read.SECURE_HSTS_SECONDS > 0


def test_serves_the_host_of_its_public_address(production: dict[str, str]) -> None:
    hosts = settings_by(PUBLIC_URL="https://study.example/", **production).ALLOWED_HOSTS
    assert "study.example" in hosts
    assert "*" not in hosts


@pytest.mark.parametrize("behind", ["0", "1"])
def test_believes_forwarded_headers_behind_a_proxy_alone(
    production: dict[str, str], behind: str
) -> None:
    read = settings_by(BEHIND_PROXY=behind, **production)
    believed = [name for name in vars(read) if name.startswith(("SECURE_PROXY", "AXES_CLIENT"))]
    assert bool(believed) == (behind == "1")


def test_uses_the_server_that_the_url_names(variables: dict[str, str]) -> None:
    url = "postgres://anna:x@db.example/study"
    database = settings_by(DATABASE_URL=url, **variables).DATABASES["default"]
    assert (database["ENGINE"], database["HOST"], database["CONN_MAX_AGE"]) == (
        "django.db.backends.postgresql",
        "db.example",
        None,
    )


def test_queues_in_files_unless_a_broker_is_named(
    variables: dict[str, str], tmp_path: Path
) -> None:
    options = settings_by(**variables).CELERY_BROKER_TRANSPORT_OPTIONS
    assert options["data_folder_in"] == f"{tmp_path}/queue"
    assert (tmp_path / "queue").is_dir()
    url = "redis://q.example/1"
    named = settings_by(CELERY_BROKER_URL=url, **variables).CELERY_BROKER_URL
    assert named == url
