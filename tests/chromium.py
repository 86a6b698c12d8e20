"""Finds the Chromium that the browser tests drive; run on its own, makes sure that there is one."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

# The first has no window, and takes two thirds of the processor time of the others.
NAMES = [
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome-stable",
    "google-chrome",
]
# As Debian has them; others have one of the two.
PACKAGES = ["chromium-headless-shell", "chromium"]
PLAYWRIGHT = [sys.executable, "-m", "playwright"]
# In a process of its own: a test's Playwright may be running already, and allows no second one.
PATH_OF_DOWNLOAD = """
from playwright.sync_api import sync_playwright
with sync_playwright() as playwright:
    print(playwright.chromium.executable_path)
"""

# The last list of features that are off is the one that counts: Playwright's own, and on top what
# costs more than the page that is tested, the drop-down of the address bar (two pages of its own
# in every window) and a process kept ready for the next site.
FEATURES_OFF = [
    "AimEnabled",
    "AvoidCorsURLLoaderRestartOnRedirect",
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsFirstBalancedModeAutoEnable",
    "HttpsUpgrades",
    "LensOverlay",
    "MediaRouter",
    "NetworkTimeServiceQuerying",
    "OptimizationHints",
    "PaintHolding",
    "PreconnectToSearch",
    "ThirdPartyStoragePartitioning",
    "SpareRendererForSitePerProcess",
    "WebUIOmniboxAimPopup",
    "WebUIOmniboxPopup",
]
# Tests visit only the local server: no sandbox (root has none), no contact with outside services.
ARGUMENTS = [
    f"--disable-features={','.join(FEATURES_OFF)}",
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
    for path in _candidates():
        # A name on the path may be a stub that only advises to install a package.
        if version := _answer(path, "--version"):
            return Browser(path, version)
    return None


@cache
def driver_starts() -> bool:
    """Playwright's driver is a separate program, which needs a library that may be missing."""
    return bool(_answer(*PLAYWRIGHT, "--version"))


def _candidates() -> Iterator[str]:
    yield from filter(None, map(shutil.which, NAMES))
    downloaded = _answer(sys.executable, "-c", PATH_OF_DOWNLOAD)
    if Path(downloaded).is_file():
        yield downloaded


def _answer(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def main() -> None:
    """Install what is missing: Debian's packages as root, else Playwright's own download."""
    ways: list[Callable[[], None]] = [partial(_install, package) for package in PACKAGES]
    for way in [*ways, _download]:
        if driver_starts() and find():
            return
        way()
        find.cache_clear()
        driver_starts.cache_clear()
    if not driver_starts():
        sys.exit("Playwright does not start here: install the package libatomic1.")
    if not find():
        sys.exit("No Chromium starts here, and none could be had: install the package chromium.")


def _install(package: str) -> None:
    if os.geteuid() == 0 and shutil.which("apt-get"):
        print(f"Installing {package}, which the browser tests drive.", flush=True)
        wanted = [package, "libatomic1"]
        _try("apt-get", "update", "--quiet=2")
        _try("apt-get", "install", "--yes", "--quiet=2", "--no-install-recommends", *wanted)


def _download() -> None:
    if driver_starts():
        print("Downloading Playwright's Chromium, which the browser tests drive.", flush=True)
        with_libraries = ["--with-deps"] if os.geteuid() == 0 else []
        _try(*PLAYWRIGHT, "install", *with_libraries, "chromium")


def _try(*command: str) -> None:
    # Its failure output is long; the one sentence at the end says what to do.
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(command, env=environment, capture_output=True, check=False)


if __name__ == "__main__":
    main()
