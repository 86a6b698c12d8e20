"""A pytest plugin: a test may be skipped for one reason only; for any other it fails."""

import os
from collections.abc import Generator
from pathlib import Path
from typing import TypeVar

import pytest

SHARED = Path(__file__).parents[2] / "shared"
CLUES = SHARED / "clues"
WITHOUT_FILES = (
    "they need original files of benchmarks in ../shared, which are not part of this project"
)
# The environment variable that names the file in which runs note what they skipped.
NOTES = "SKIPPED_TESTS"

Report = TypeVar("Report", pytest.TestReport, pytest.CollectReport)


def failed_if_skipped_otherwise(report: Report) -> Report:
    """Anything skipped for another reason was not tested, and counts as failed."""
    is_expected_failure = hasattr(report, "wasxfail")
    if report.skipped and not is_expected_failure and reason_of(report) != WITHOUT_FILES:
        report.longrepr = f"{report.nodeid} was skipped: {reason_of(report)}"
        report.outcome = "failed"
    return report


def reason_of(report: pytest.TestReport | pytest.CollectReport) -> str:
    told = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
    return str(told).removeprefix("Skipped: ")


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    return failed_if_skipped_otherwise((yield))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    return failed_if_skipped_otherwise((yield))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if file := os.environ.get(NOTES):
        skipped = terminalreporter.stats.get("skipped", [])
        with open(file, "a", encoding="utf-8") as notes:  # another run may be writing too
            notes.write("".join(f"{report.nodeid}\n" for report in skipped))


def sentence(file: Path) -> str:
    """How many tests were skipped in all runs that noted theirs, each counted once, and why."""
    skipped = set(file.read_text(encoding="utf-8").splitlines()) if file.exists() else set()
    if not skipped:
        return "No test was skipped."
    count = "1 test" if len(skipped) == 1 else f"{len(skipped)} tests"
    return f"{count} skipped: {WITHOUT_FILES}"
