"""The image's own steps without Docker: from its files to a served page, in production."""

import json
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from fnmatch import fnmatch
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path

import pytest
import yaml
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from pytest_django import Settings

from tests.config.environment import untouched
from tests.migrated_once import begin_with_copy

SECRETS = {"SECRET_KEY": "fifty letters" * 4, "IDENTITY_KEY": "i" * 50}
OVER_TLS = {"Host": "study.example", "X-Forwarded-Proto": "https"}


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the image holds: the files of the project, less those that are ignored."""
    folder = tmp_path_factory.mktemp("image") / "app"
    shutil.copytree(settings.BASE_DIR, folder, ignore=left_out)
    step(folder, "static")
    return folder


def left_out(folder: str, names: list[str]) -> set[str]:
    """As Docker reads it: a pattern is of a path from the root, unless it begins with **/."""
    patterns = (settings.BASE_DIR / ".dockerignore").read_text().split()
    anywhere = [pattern.removeprefix("**/") for pattern in patterns if pattern.startswith("**/")]
    place = Path(folder).relative_to(settings.BASE_DIR)
    return {
        name
        for name in names
        if any(fnmatch(name, pattern) for pattern in anywhere)
        or any(fnmatch((place / name).as_posix(), pattern) for pattern in patterns)
    }


def step(app: Path, name: str, python: str = sys.executable) -> None:
    environment = untouched(PYTHON=python)
    subprocess.run(["sh", "config/image.sh", name], cwd=app, env=environment, check=True)


@pytest.fixture(scope="module")
def built(app: Path) -> dict[Path, float]:
    return contents(app)


def contents(app: Path) -> dict[Path, float]:
    return {path: path.stat().st_mtime for path in app.rglob("*")}


def test_names_each_static_file_for_its_content(app: Path) -> None:
    files = app / "staticfiles"
    names = json.loads((files / "staticfiles.json").read_text())["paths"]
    assert names["admin/css/base.css"] != "admin/css/base.css"
    assert (files / names["admin/css/base.css"]).exists()


def environment(data: Path, **variables: str) -> dict[str, str]:
    production = {
        "PYTHONDONTWRITEBYTECODE": "1",
        "DEBUG": "0",
        "PUBLIC_URL": "https://study.example",
        "BEHIND_PROXY": "1",
    }
    return untouched(DATA_DIR=str(data), **production, **SECRETS, **variables)


def command_of(port: int) -> list[str]:
    """What the Dockerfile starts, on another port."""
    text = (settings.BASE_DIR / "Dockerfile").read_text().replace("\\\n", " ")
    [line] = [line for line in text.splitlines() if line.startswith("CMD ")]
    words: list[str] = yaml.safe_load(line.removeprefix("CMD "))
    assert words[0] == "granian"
    words[words.index("--port") + 1] = str(port)
    words[words.index("--host") + 1] = "127.0.0.1"
    return [sys.executable, "-m", *words]


@pytest.fixture(scope="module")
def served(
    app: Path, built: dict[Path, float], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[int]:
    data = tmp_path_factory.mktemp("data")
    begin_with_copy(data / "baseliner.sqlite3")
    migrate = [sys.executable, "manage.py", "migrate", "-v0"]
    subprocess.run(migrate, cwd=app, env=environment(data), check=True)
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = int(probe.getsockname()[1])
    process = subprocess.Popen(command_of(port), cwd=app, env=environment(data))
    try:
        while not is_served(port):
            assert process.poll() is None
            time.sleep(0.1)
        yield port
    finally:
        process.terminate()
        process.wait()


def is_served(port: int) -> bool:
    try:
        return get(port, "/healthz").status == 200
    except OSError:
        return False


def get(port: int, path: str, headers: dict[str, str] = OVER_TLS) -> HTTPResponse:
    asked = HTTPConnection("127.0.0.1", port, timeout=30)
    asked.request("GET", path, headers=headers)
    return asked.getresponse()


def test_serves_pages_and_their_static_files(served: int) -> None:
    page = get(served, "/")
    assert page.status == 200
    assert page.headers["Strict-Transport-Security"]
    text = page.read().decode()
    style = text.partition('rel="stylesheet" href="')[2].partition('"')[0]
    # Named for its content, so that browsers may keep it for ever.
    assert style.count(".") == 2
    file = get(served, style, OVER_TLS | {"Accept-Encoding": "gzip"})
    assert (file.status, file.headers["Content-Encoding"]) == (200, "gzip")
    assert "immutable" in file.headers["Cache-Control"]


def test_shows_no_page_for_programmers(served: int) -> None:
    missing = get(served, "/no/such/page/")
    assert missing.status == 404
    assert b"DEBUG" not in missing.read()


def test_serves_no_other_host(served: int) -> None:
    assert get(served, "/", OVER_TLS | {"Host": "evil.example"}).status == 400


def test_writes_to_its_data_alone(app: Path, built: dict[Path, float], served: int) -> None:
    """So that it can be run by a user who owns nothing else."""
    assert get(served, "/").status == 200
    assert contents(app) == built
    text = (settings.BASE_DIR / "Dockerfile").read_text()
    assert text.index("USER baseliner") < text.index("\nCMD ")


def check_before_deployment(app: Path, data: Path, python: str) -> None:
    check = [python, "manage.py", "check", "--deploy", "--fail-level", "WARNING"]
    subprocess.run(check, cwd=app, env=environment(data), check=True)


def test_has_nothing_to_complain_about_before_a_deployment(app: Path, tmp_path: Path) -> None:
    check_before_deployment(app, tmp_path / "data", sys.executable)


def test_would_complain_of_a_short_secret(settings: Settings) -> None:
    settings.SECRET_KEY = "short"
    with pytest.raises(SystemCheckError, match=r"security\.W009"):
        call_command("check", deploy=True, fail_level="WARNING")


@pytest.mark.system
def test_installs_what_it_runs_on_into_an_empty_environment(app: Path, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "new"], check=True)
    python = str(tmp_path / "new" / "bin" / "python")
    step(app, "requirements", python)
    step(app, "static", python)
    check_before_deployment(app, tmp_path / "data", python)
