"""Finds the Chromium that the browser tests drive; `make test` sees to it that there is one."""

import os
import shutil
import subprocess
import sys
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


def main() -> None:
    """Bring a Chromium where there is none: Debian's package as root, else Playwright's own."""
    for install in (_install_package, _download):
        if find():
            return
        install()
        find.cache_clear()
    if not find():
        sys.exit("No Chromium starts here: install the package chromium, then run this again.")


def _install_package() -> None:
    if os.geteuid() == 0 and shutil.which("apt-get"):
        print("Installing the package chromium, which the browser tests drive.", flush=True)
        _try("apt-get", "update", "--quiet=2")
        _try("apt-get", "install", "--yes", "--quiet=2", "--no-install-recommends", "chromium")


def _download() -> None:
    print("Downloading Playwright's Chromium, which the browser tests drive.", flush=True)
    with_libraries = ["--with-deps"] if os.geteuid() == 0 else []
    _try(sys.executable, "-m", "playwright", "install", *with_libraries, "chromium")


def _try(*command: str) -> None:
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(command, env=quiet, stdout=subprocess.DEVNULL, check=False)


if __name__ == "__main__":
    main()
