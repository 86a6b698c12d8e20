"""A pytest plugin: with --processor-time, at the end the processor time of each room's tests, with
all that they started, and the dearest files. On Linux, whose /proc tells it."""

import os
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

OPTION = "--processor-time"
NAME = "processor time"
DEAREST = 40
TICKS = os.sysconf("SC_CLK_TCK")


def add_option(parser: pytest.Parser) -> None:
    parser.addoption(OPTION, action="store_true", help="print the processor time of each room")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    if not item.config.getoption(OPTION):
        return (yield)
    before = spent()
    result = yield
    # What left the tree while it ran, as a server's orphans do, is not seen.
    add(item.config, {file_of(item.nodeid): max(0.0, spent() - before)})
    return result


SPENT = pytest.StashKey[dict[str, float]]()


def add(config: pytest.Config, times: dict[str, float]) -> None:
    sums = config.stash[SPENT]
    for file, seconds in times.items():
        sums[file] = sums.get(file, 0) + seconds


def spent() -> float:
    """Seconds of the processor of this process and everything below it, ended or not."""
    return sum(ticks for _pid, ticks in _tree(os.getpid())) / TICKS


def _tree(root: int) -> Iterator[tuple[int, int]]:
    children: dict[int, list[int]] = {}
    ticks: dict[int, int] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                # The name, in parentheses, may hold spaces.
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue  # it has ended meanwhile
            pid = int(folder.name)
            children.setdefault(int(fields[1]), []).append(pid)
            ticks[pid] = sum(map(int, fields[11:15]))
    waiting = [root]
    while waiting:
        pid = waiting.pop()
        yield pid, ticks.get(pid, 0)
        waiting += children.get(pid, [])


def room_of(file: str) -> str:
    """Two folders below the tests, or one."""
    return "/".join(file.split("/")[:-1][:3])


def file_of(nodeid: str) -> str:
    return nodeid.partition("::")[0]


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A worker hands what it has noted to whoever started it."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        noted: dict[str, float] = session.config.stash[SPENT]
        output[NAME] = noted


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    add(node.config, getattr(node, "workeroutput", {}).get(NAME, {}))


def pytest_configure(config: pytest.Config) -> None:
    config.stash[SPENT] = {}


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    files = terminalreporter.config.stash[SPENT]
    if not files:
        return
    rooms: dict[str, float] = {}
    for file, seconds in files.items():
        rooms[room_of(file)] = rooms.get(room_of(file), 0) + seconds
    terminalreporter.section("processor time")
    for title, times in (("rooms", rooms), ("files", files)):
        terminalreporter.line(f"{title}, {sum(times.values()):.0f} s in all:")
        for name in sorted(times, key=times.__getitem__, reverse=True)[:DEAREST]:
            terminalreporter.line(f"{times[name]:8.1f} s  {name}")
