import json
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import call_command
from pytest_django import Settings

from tests.config.environment import untouched

READ = "import json, sys; from config import settings as s; "


def run(*command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """A Python with only these environment variables."""
    return subprocess.run(
        [sys.executable, *command],
        cwd=settings.BASE_DIR,
        env=untouched(DJANGO_SETTINGS_MODULE="config.settings", **variables),
        capture_output=True,
        text=True,
        check=False,
    )


def value_of(expression: str, **variables: str) -> object:
    done = run("-c", f"{READ} json.dump({expression}, sys.stdout)", **variables)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def variables(tmp_path: Path) -> dict[str, str]:
    return {"DATA_DIR": str(tmp_path)}


@pytest.fixture
def production(variables: dict[str, str]) -> dict[str, str]:
    return {**variables, "DEBUG": "0", "SECRET_KEY": "k" * 64, "IDENTITY_KEY": "i" * 64}


def test_starts_without_any_variable(variables: dict[str, str], tmp_path: Path) -> None:
    assert value_of("[s.IS_LOCAL, s.DEBUG, str(s.DATABASES['default']['NAME'])]", **variables) == [
        True,
        False,
        f"{tmp_path}/baseliner.sqlite3",
    ]


def test_notes_queries_and_shows_code_only_when_asked_and_never_in_production(
    variables: dict[str, str], production: dict[str, str]
) -> None:
    assert value_of("s.DEBUG", **variables, DEBUG_PAGES="1") is True
    assert value_of("s.DEBUG", **production, DEBUG_PAGES="1") is False


def test_keeps_one_generated_secret_on_ones_own_machine(variables: dict[str, str]) -> None:
    assert value_of("s.SECRET_KEY", **variables) == value_of("s.SECRET_KEY", **variables)


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
    value_of("s.SECRET_KEY", **variables)
    assert run("manage.py", "check", DEBUG="0", **variables).returncode == 1


def test_finds_nothing_wrong_with_itself_in_production(production: dict[str, str]) -> None:
    done = run("manage.py", "check", "--fail-level", "WARNING", **production)
    assert done.returncode == 0, done.stderr


def test_says_what_to_do_about_identities_in_production(production: dict[str, str]) -> None:
    done = run("manage.py", "check", **{**production, "IDENTITY_KEY": ""})
    assert "set IDENTITY_KEY to the present SECRET_KEY" in done.stderr


def test_keeps_the_secret_of_before_for_identities(
    variables: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "secret-key").write_text("of before\n")
    assert value_of("s.IDENTITY_KEY", **variables) == "of before"
    (tmp_path / "secret-key").write_text("renewed\n")
    assert value_of("[s.SECRET_KEY, s.IDENTITY_KEY]", **variables) == ["renewed", "of before"]


def test_is_strict_in_production(production: dict[str, str]) -> None:
    wanted = "[s.SESSION_COOKIE_SECURE, s.CSRF_COOKIE_SECURE, s.SECURE_HSTS_SECONDS > 0]"
    assert value_of(wanted, **production) == [True, True, True]


def test_serves_the_host_of_its_public_address(production: dict[str, str]) -> None:
    hosts = value_of("s.ALLOWED_HOSTS", PUBLIC_URL="https://study.example/", **production)
    assert isinstance(hosts, list)
    assert "study.example" in hosts
    assert "*" not in hosts


@pytest.mark.parametrize("behind", ["0", "1"])
def test_believes_forwarded_headers_behind_a_proxy_alone(
    production: dict[str, str], behind: str
) -> None:
    names = "[name for name in dir(s) if name.startswith(('SECURE_PROXY', 'AXES_CLIENT'))]"
    believed = value_of(names, BEHIND_PROXY=behind, **production)
    assert bool(believed) == (behind == "1")


def test_uses_the_server_that_the_url_names(variables: dict[str, str]) -> None:
    database = value_of(
        "s.DATABASES['default']", DATABASE_URL="postgres://anna:x@db.example/study", **variables
    )
    assert isinstance(database, dict)
    assert (database["ENGINE"], database["HOST"], database["CONN_MAX_AGE"]) == (
        "django.db.backends.postgresql",
        "db.example",
        None,
    )


def test_queues_in_files_unless_a_broker_is_named(
    variables: dict[str, str], tmp_path: Path
) -> None:
    folder = "s.CELERY_BROKER_TRANSPORT_OPTIONS['data_folder_in']"
    assert value_of(folder, **variables) == f"{tmp_path}/queue"
    assert (tmp_path / "queue").is_dir()
    named = value_of("s.CELERY_BROKER_URL", CELERY_BROKER_URL="redis://q.example/1", **variables)
    assert named == "redis://q.example/1"


def test_names_each_static_file_for_its_content(tmp_path: Path, settings: Settings) -> None:
    settings.STATIC_ROOT = tmp_path
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
    }
    call_command("collectstatic", interactive=False, verbosity=0)
    names = json.loads((tmp_path / "staticfiles.json").read_text())["paths"]
    assert names["admin/css/base.css"] != "admin/css/base.css"
    assert (tmp_path / names["admin/css/base.css"]).exists()
