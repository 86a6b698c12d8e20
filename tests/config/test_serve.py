"""`make run`, once the requirements are installed."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from urllib.request import Request, urlopen

import pytest
from django.conf import settings
from prometheus_client.parser import text_string_to_metric_families

from config.serve import CannotStart, Service, answers
from tests.config.environment import untouched


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


# Where the data is as it should be.
PREPARED = """
import math, sys
from config import serve
serve.prepared_data = str
"""
ALL = f"{PREPARED}\nserve.main(*sys.argv[1:])"
# However long a process takes to fail, it never counts as one that has worked. It need not be
# polite: beside other tests its start would take minutes. The others would start all right.
ONE_WORKER = f"""{PREPARED}
serve.STARTED_AFTER_S = math.inf
serve.MOST_FAILED_STARTS = 2
serve.POLITELY = []
serve.services_on = lambda host, port: [serve.Service("first worker", serve.worker("first"))]
serve.main(*sys.argv[1:])
"""


def start(
    data: Path, port: int | str, *, run: Sequence[str] = ("-m", "config.serve"), **variables: str
) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, *run, "127.0.0.1", str(port)],
        cwd=settings.BASE_DIR,
        env=untouched(DATA_DIR=str(data), PYTHONUNBUFFERED="1", **variables),
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


@pytest.mark.linux
def test_leaves_nothing_running_when_it_is_killed(data: Path) -> None:
    port = free_port()
    process = start(data, port, run=("-c", ALL))
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


# What dies is started again


def children(pid: int) -> dict[int, str]:
    """The titles of a process's children."""
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    pids = {int(child) for task in tasks for child in task.read_text().split()}
    return {child: Path(f"/proc/{child}/cmdline").read_text().replace("\0", " ") for child in pids}


def child(pid: int, of: str) -> int:
    [found] = [child for child, title in children(pid).items() if of in title]
    return found


def eventually(holds: Callable[[], object]) -> None:
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end, "It did not come back."
        time.sleep(0.1)


@pytest.mark.linux
def test_serves_and_starts_again_what_was_killed_until_it_is_told_to_end(data: Path) -> None:
    """One life of it, since each start takes a while."""
    port = free_port()
    process = start(data, port, METRICS_TOKEN="tell-me")
    links = "".join(lines_until_running(process))
    assert f"http://127.0.0.1:{port}/admin/" in links
    with urlopen(f"http://127.0.0.1:{port}/healthz") as answer:
        assert answer.read() == b"ok\n"
    adds_up_what_all_web_workers_have_counted(port)
    goes_on_when_a_worker_of_the_web_server_was_killed(process, port)
    # Words of one command alone, before and after a process gives itself a title.
    for command in ("second@", "scheduled@"):
        child(process.pid, command)
    # The other workers are started again by the same lines.
    for name, command in (
        ("web server", "granian"),
        ("first worker", "first@"),
        ("schedule", "beat --loglevel"),
    ):
        starts_again_what_was_killed(process, port, name, command)
    process.send_signal(signal.SIGINT)
    process.communicate()
    assert process.returncode == 0
    assert not answers("127.0.0.1", str(port))


def adds_up_what_all_web_workers_have_counted(port: int) -> None:
    before = counted(port)
    for _ in range(20):
        urlopen(f"http://127.0.0.1:{port}/healthz").close()
    # Whichever of the two answers knows of all.
    assert {counted(port) - before >= 20 for _ in range(6)} == {True}


def counted(port: int) -> float:
    """The requests of /healthz."""
    bearer = {"Authorization": "Bearer tell-me"}
    with urlopen(Request(f"http://127.0.0.1:{port}/metrics", headers=bearer)) as response:
        families = text_string_to_metric_families(response.read().decode())
    return sum(
        sample.value
        for family in families
        for sample in family.samples
        if sample.name == "baseliner_request_seconds_count"
        and sample.labels["address"] == "healthz"
    )


def starts_again_what_was_killed(
    process: subprocess.Popen[str], port: int, name: str, command: str
) -> None:
    before = children(process.pid)
    os.kill(child(process.pid, command), signal.SIGKILL)
    assert process.stderr
    told = next(line for line in process.stderr if line.startswith("The "))
    assert told == f"The {name} ended by itself, with status -9. Next start in 1 s.\n"
    eventually(lambda: any(command in title for title in children(process.pid).values()))
    eventually(lambda: answers("127.0.0.1", str(port)))
    # The four others are the same as before.
    assert len(before.keys() & children(process.pid).keys()) == len(before) - 1 == 4


def goes_on_when_a_worker_of_the_web_server_was_killed(
    process: subprocess.Popen[str], port: int
) -> None:
    before = children(process.pid)
    web = child(process.pid, "granian")
    workers = children(web).keys()
    os.kill(min(workers), signal.SIGKILL)
    eventually(lambda: children(web).keys() - workers)
    assert answers("127.0.0.1", str(port))
    assert children(process.pid).keys() == before.keys()


class TestPauses:
    def service(self, *code: str) -> Service:
        return Service("worker", [sys.executable, "-c", *code])

    def die(self, service: Service, at: float) -> str:
        assert service.process
        service.process.wait()
        return service.look_after(at=at)

    def test_grow_up_to_a_minute(self) -> None:
        service = self.service("raise SystemExit(3)")
        service.has_worked = True
        pauses = []
        now = 0.0
        service.start(at=now)
        for _ in range(8):
            told = self.die(service, now)
            pauses.append(told.partition("Next start in ")[2])
            assert service.look_after(at=service.start_again_at - 0.1) == ""
            assert service.process is None
            now = service.start_again_at
            service.look_after(at=now)
        assert pauses == ["1 s.", "2 s.", "4 s.", "8 s.", "16 s.", "32 s.", "60 s.", "60 s."]
        self.die(service, now)

    def test_are_short_again_for_what_has_worked_for_a_while(self) -> None:
        service = self.service("")
        service.failed_starts = 5
        service.start(at=0)
        assert self.die(service, at=61).endswith("with status 0. Next start in 1 s.")

    def test_end_for_what_cannot_start(self) -> None:
        service = self.service("raise SystemExit(3)")
        for _ in range(2):
            service.start(at=0)
            self.die(service, at=1)
        service.start(at=0)
        with pytest.raises(CannotStart, match=r"worker ended 3 times before it worked.*status 3"):
            self.die(service, at=1)


def test_ends_with_a_sentence_when_the_worker_cannot_start(data: Path) -> None:
    environment = {"CELERY_BROKER_URL": "nonsense://"}
    process = start(data, free_port(), run=("-c", ONE_WORKER), **environment)
    _, error = process.communicate()
    assert process.returncode == 1
    assert "ended 2 times before it worked, the last time with status" in error
