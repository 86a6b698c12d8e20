"""Finds the Chromium that the browser tests drive; `make test` sees to it that there is one."""

import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from playwright.sync_api import sync_playwright

NAMES = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"]

# Tests visit the local server alone: no sandbox (root has none), no talk with services outside.
ARGUMENTS = [
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-quic",
]


@dataclass(frozen=True)
class Browser:
    path: str
    version: str


@cache
def find() -> Browser | None:
    """The first browser that starts: installed ones, then Playwright's own download."""
    installed = [path for name in NAMES if (path := shutil.which(name))]
    for path in [*installed, *_downloaded()]:
        # A name on the path may be a stub that only advises to install a package.
        answer = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
        if answer.returncode == 0:
            return Browser(path, answer.stdout.strip())
    return None


def _downloaded() -> list[str]:
    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return [path] if Path(path).exists() else []
