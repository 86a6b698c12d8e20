"""What `make run` does once the requirements are installed: prepares the data, serves, ends."""

import ctypes
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from io import StringIO

import django
from django.core.management import CommandError, call_command
from django.db import connections

PYTHON = [sys.executable, "-W", "ignore:You're running the worker with superuser", "-m"]
WEB = [*PYTHON, "granian", "--interface", "wsgi", "--workers", "2", "--blocking-threads", "1"]
WEB += ["--no-ws", "--log-level", "warning", "--workers-kill-timeout", "3"]
CELERY = [*PYTHON, "celery", "--quiet", "--app", "config"]
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PR_SET_PDEATHSIG = 1  # of Linux's prctl
PATIENCE_S = 10  # for a process to finish what it is doing

Processes = dict[str, subprocess.Popen[bytes]]


def main(host: str, port: str) -> None:
    refuse_a_taken_port(host, port)
    os.environ.setdefault("PUBLIC_URL", f"http://{host}:{port}")
    for number in ENDING:
        signal.signal(number, lambda *_: sys.exit(0))
    links = prepared_data()
    processes = start(host, port)
    try:
        watch(processes, until=lambda: answers(host, port))
        print(f"{links}\nBaseliner is running; Ctrl-C ends it.", flush=True)
        watch(processes, until=lambda: False)
    finally:
        end(processes)


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
        call_command("migrate", verbosity=0)
        call_command("check", databases=["default"], stdout=StringIO())
        call_command("load_demo", stdout=links)
        call_command("ensure_admin", stdout=links)
    except CommandError as problem:
        sys.exit(str(problem))
    connections.close_all()
    return links.getvalue()


def start(host: str, port: str) -> Processes:
    address = ["--host", host, "--port", port]
    commands = {
        "web server": [*WEB, *address, "config.wsgi:application"],
        "worker": [*CELERY, "worker", "--pool", "solo", "--loglevel", "warning"],
        # Not inside the worker: a killed worker would leave its schedule running.
        "schedule": [*CELERY, "beat", "--loglevel", "warning"],
    }
    return {
        name: subprocess.Popen(command, preexec_fn=stand_apart)  # noqa: PLW1509  no threads here
        for name, command in commands.items()
    }


def stand_apart() -> None:
    """Shielded from the terminal's Ctrl-C, which would reach a process twice; does not outlive
    us."""
    os.setpgrp()
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def watch(processes: Processes, *, until: Callable[[], bool]) -> None:
    """Wait; a process that ends by itself ends everything."""
    while not until():
        for name, process in processes.items():
            if process.poll() is not None:
                sys.exit(f"The {name} ended by itself, with status {process.returncode}.")
        time.sleep(0.1)


def answers(host: str, port: str) -> bool:
    try:
        socket.create_connection((host, int(port)), timeout=1).close()
    except OSError:
        return False
    return True


def end(processes: Processes) -> None:
    for number in ENDING:  # a second one would leave the rest of this undone
        signal.signal(number, signal.SIG_IGN)
    for process in processes.values():
        process.terminate()
    for process in processes.values():
        try:
            process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            process.kill()


if __name__ == "__main__":
    main(*sys.argv[1:])
