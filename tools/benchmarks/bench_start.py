"""How long the installation takes to start, and what its web server holds in memory.

    python -m tools.benchmarks.bench_start [--rounds 5]

The processor time of `manage.py check`, beside importing the packages that it rests on alone; how
long `make run` takes from an empty folder of data until it answers, and from then on, its
packages installed; and what its web server holds after a few pages, shared memory by its share.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from statistics import median
from urllib.request import urlopen

from tools.benchmarks.bench_answer import free_port
from tools.benchmarks.soak import memory_mb, processes

CHECK = ["manage.py", "check"]
IMPORTS = ["-c", "import celery, django.contrib.admin, psycopg, rest_framework"]
PAGES = ("/", "/healthz", "/readyz", "/admin/login/", "/docs/")
LOOKS = 40


def processor_s(command: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *command], stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def middle(act: Callable[[], float], rounds: int) -> float:
    act()  # its bytecode is written
    return median(act() for _ in range(rounds))


def started(port: int) -> tuple[subprocess.Popen[str], float]:
    """The installation, once it answers, and how long that took."""
    command = [sys.executable, "-m", "config.serve", "127.0.0.1", str(port)]
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout
    for line in process.stdout:
        if line.startswith("Baseliner is running"):
            return process, time.perf_counter() - began
    raise SystemExit("The installation did not start.")


def web_server_mb(installation: int, port: int) -> float:
    """Once its processes have shown some pages."""
    for number in range(LOOKS):
        with urlopen(f"http://127.0.0.1:{port}{PAGES[number % len(PAGES)]}") as response:
            response.read()
    titles = processes(installation)
    server = next(pid for pid, title in titles.items() if "granian" in title)
    return memory_mb(server)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    check = middle(lambda: processor_s(CHECK), options.rounds)
    imports = middle(lambda: processor_s(IMPORTS), options.rounds)
    print(
        f"manage.py check {check:.2f} s, its imports alone {imports:.2f} s: {check / imports:.1f}"
    )
    with tempfile.TemporaryDirectory() as data:
        os.environ["DATA_DIR"] = data
        for name in ("from nothing", "again"):
            port = free_port()
            process, took_s = started(port)
            try:
                held_mb = web_server_mb(process.pid, port)
            finally:
                process.terminate()
                process.wait()
            print(f"make run, {name}: {took_s:.1f} s; its web server holds {held_mb:.0f} MB")


if __name__ == "__main__":
    main()
