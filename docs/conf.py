"""How `make docs` makes a site of this folder."""

import os
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

import django
from django.apps import apps

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

if not apps.ready:
    # Commands, columns and the API are read from the code: no installation is touched.
    os.environ.update(DJANGO_SETTINGS_MODULE="config.settings", DATA_DIR=tempfile.mkdtemp())
    django.setup()

from config.documentation.pages import GENERATED  # noqa: E402 (needs the settings)

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

project = "Baseliner"
author = "The Baseliner maintainers"
release = version = PROJECT["version"]
extensions = ["myst_parser"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"Baseliner {release}"
html_copy_source = False
# As GitHub makes them, so that a link holds in the repository, on the site and in the product.
myst_heading_anchors = 4
nitpicky = True
# For `make docs LINKS=1`: sites that refuse programs.
linkcheck_ignore = [r"https?://(127\.0\.0\.1|.*\.example)"]


def add_what_follows_from_the_code(app: Any, name: str, source: list[str]) -> None:
    if name in GENERATED:
        source[0] += "\n" + GENERATED[name]()


def setup(app: Any) -> None:
    app.connect("source-read", add_what_follows_from_the_code)
