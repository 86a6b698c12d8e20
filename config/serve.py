"""What `make run` does: prepares the data, serves, starts again what died, ends."""

import ctypes
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from importlib import import_module
from io import StringIO

import django
from django.core.management import CommandError, call_command
from django.db import connections

PYTHON = [sys.executable, "-W", "ignore:You're running the worker with superuser", "-m"]
WEB = [*PYTHON, "granian", "--interface", "wsgi", "--workers", "2", "--blocking-threads", "2"]
WEB += ["--no-ws", "--log-level", "warning", "--workers-kill-timeout", "3"]
WEB += ["--respawn-failed-workers"]
CELERY = [*PYTHON, "celery", "--quiet", "--app", "config"]
# Long work gets what people leave of the processor.
POLITELY = ["nice", "-n", "10"]
# Two for long work, so that nobody waits for an export as long as somebody's import takes; and one
# for what runs at a time.
WORKERS = {"first": "celery", "second": "celery", "scheduled": "schedule"}
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PR_SET_PDEATHSIG = 1  # of Linux's prctl
PATIENCE_S = 10  # for a process to finish what it is doing
# A process that dies sooner has failed to start: longer than that takes on a busy machine.
STARTED_AFTER_S = 60
MOST_FAILED_STARTS = 3
LONGEST_PAUSE_S = 60


class CannotStart(Exception):
    """A process fails at every start, and has never worked."""


@dataclass
class Service:
    """A process that is started again whenever it died, after growing pauses."""

    name: str
    command: list[str]
    process: subprocess.Popen[bytes] | None = None
    started_at: float = 0
    has_worked: bool = False
    failed_starts: int = 0
    start_again_at: float = 0

    def start(self, *, at: float) -> None:
        self.process = subprocess.Popen(self.command, preexec_fn=stand_apart)  # noqa: PLW1509  no threads here
        self.started_at = at

    def look_after(self, *, at: float) -> str:
        """Notice that it died, or start it again when its pause is over; what to tell about it."""
        if self.process is None:
            if at >= self.start_again_at:
                self.start(at=at)
            return ""
        status = self.process.poll()
        if status is None:
            return ""
        # Its own children may have outlived it, and would share its port or its queue.
        end_group(self.process, signal.SIGKILL)
        self.process = None
        return self._plan_next_start(status, at)

    def _plan_next_start(self, status: int, at: float) -> str:
        lasted = at - self.started_at >= STARTED_AFTER_S
        self.has_worked = self.has_worked or lasted
        self.failed_starts = 1 if lasted else self.failed_starts + 1
        if not self.has_worked and self.failed_starts >= MOST_FAILED_STARTS:
            raise CannotStart(
                f"The {self.name} ended {self.failed_starts} times before it worked, "
                f"the last time with status {status}: what it wrote above says why."
            )
        pause = min(2 ** (self.failed_starts - 1), LONGEST_PAUSE_S)
        self.start_again_at = at + pause
        return f"The {self.name} ended by itself, with status {status}. Next start in {pause} s."


Services = list[Service]


def main(host: str, port: str) -> None:
    refuse_a_taken_port(host, port)
    os.environ.setdefault("PUBLIC_URL", f"http://{host}:{port}")
    for number in ENDING:
        signal.signal(number, lambda *_: sys.exit(0))
    links = prepared_data()
    services = services_on(host, port)
    try:
        for service in services:
            service.start(at=time.monotonic())
        watch(services, until=lambda: answers(host, port))
        services[0].has_worked = True
        print(f"{links}\nBaseliner is running; Ctrl-C ends it.", flush=True)
        watch(services, until=lambda: False)
    except CannotStart as problem:
        sys.exit(str(problem))
    finally:
        end(services)


def refuse_a_taken_port(host: str, port: str) -> None:
    # Left to itself the web server would share the port with another of its kind.
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, int(port)))
        except (OSError, OverflowError, ValueError) as problem:
            sys.exit(
                f"The web server can't have port {port} on {host} ({problem}): "
                "end what uses it, or take another one, as in `make run PORT=8001`."
            )


def prepared_data() -> str:
    """Migrate, and load the demonstration study; returns where to go and how to sign in."""
    links = StringIO()
    try:
        django.setup()
        # It needs the applications, which were loaded just now.
        migrations = import_module("config.migrations")
        if migrations.misfit() == migrations.LATER:
            raise CommandError(migrations.LATER)
        call_command("migrate", verbosity=0)
        call_command("check", databases=["default"], stdout=StringIO())
        call_command("load_demo", stdout=links)
        call_command("ensure_admin", stdout=links)
    except CommandError as problem:
        sys.exit(str(problem))
    connections.close_all()
    return links.getvalue()


def services_on(host: str, port: str) -> Services:
    address = ["--host", host, "--port", port]
    return [
        Service("web server", [*WEB, *address, "config.wsgi:application"]),
        *(Service(f"{name} worker", worker(name, queue)) for name, queue in WORKERS.items()),
        # Not inside the worker: a killed worker would leave its schedule running.
        Service("schedule", [*CELERY, "beat", "--loglevel=warning"]),
    ]


def worker(name: str, queue: str = "celery") -> list[str]:
    """One job at a time: a process that is killed takes no other job with it."""
    options = ["--pool", "solo", "--hostname", f"{name}@%h", "--loglevel", "warning"]
    return [*POLITELY, *CELERY, "worker", *options, "--queues", queue]


def stand_apart() -> None:
    """Shielded from the terminal's Ctrl-C, which would come twice; does not outlive us."""
    os.setpgrp()
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def watch(services: Services, *, until: Callable[[], bool]) -> None:
    """Wait; what dies is started again, and the others are left alone."""
    while not until():
        for service in services:
            if message := service.look_after(at=time.monotonic()):
                print(message, file=sys.stderr, flush=True)
        time.sleep(0.1)


def answers(host: str, port: str) -> bool:
    """Whether the application does, not the port alone; with what, is no matter."""
    try:
        connection = HTTPConnection(host, int(port), timeout=5)
        connection.request("GET", "/healthz")
        connection.getresponse()
    except (OSError, HTTPException):
        return False
    connection.close()
    return True


def end(services: Services) -> None:
    for number in ENDING:  # a second one would leave the rest of this undone
        signal.signal(number, signal.SIG_IGN)
    running = [service.process for service in services if service.process]
    for process in running:
        process.terminate()
    for process in running:
        try:
            process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            end_group(process, signal.SIGKILL)


def end_group(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, number)


if __name__ == "__main__":
    main(*sys.argv[1:])
