"""`make run`, once the requirements are installed."""

import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest
from django.conf import settings

from config.serve import answers
from tests.config.environment import untouched


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def start(data: Path, port: int | str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "config.serve", "127.0.0.1", str(port)],
        cwd=settings.BASE_DIR,
        env=untouched(DATA_DIR=str(data), PYTHONUNBUFFERED="1"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def lines_until_running(process: subprocess.Popen[str]) -> list[str]:
    assert process.stdout
    lines: list[str] = []
    while line := process.stdout.readline():
        if line.startswith("Baseliner is running"):
            return lines
        lines.append(line)
    raise AssertionError(process.communicate())


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One for all tests: the demonstration study takes a while, and is loaded once."""
    return tmp_path_factory.mktemp("data")


def test_serves_until_it_is_told_to_end(data: Path) -> None:
    port = free_port()
    process = start(data, port)
    links = "".join(lines_until_running(process))
    assert f"http://127.0.0.1:{port}/admin/" in links
    with urlopen(f"http://127.0.0.1:{port}/healthz") as answer:
        assert answer.read() == b"ok\n"
    process.send_signal(signal.SIGINT)
    process.communicate()
    assert process.returncode == 0
    assert not answers("127.0.0.1", str(port))


@pytest.mark.linux
def test_leaves_nothing_running_when_it_is_killed(data: Path) -> None:
    port = free_port()
    process = start(data, port)
    lines_until_running(process)
    process.kill()
    process.communicate()  # until the last of them has closed the pipes
    assert not answers("127.0.0.1", str(port))


def test_says_that_a_port_is_taken_before_it_touches_anything(
    tmp_path: Path, taken_port: int
) -> None:
    process = start(tmp_path, taken_port)
    _, error = process.communicate()
    assert process.returncode == 1
    assert error.startswith(f"The web server can't have port {taken_port} on 127.0.0.1")
    assert error.count("\n") == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("port", ["http", "65536"])
def test_refuses_what_is_no_port(tmp_path: Path, port: str) -> None:
    process = start(tmp_path, port)
    _, error = process.communicate()
    assert process.returncode == 1
    assert error.startswith(f"The web server can't have port {port}")
