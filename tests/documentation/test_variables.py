"""The settings that are documented are those that there are."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

CONFIG = Path(settings.BASE_DIR) / "config"
PAGE = Path(settings.BASE_DIR) / "docs" / "reference" / "settings.md"
LINE = re.compile(r"^\| `(\w+)` \| .+ \| (.*) \|$", re.MULTILINE)


def told() -> dict[str, str]:
    """Each name on the page, with its default."""
    lines = LINE.findall(PAGE.read_text(encoding="utf-8"))
    assert len(lines) == len(dict(lines))
    return {name: default.strip("`") for name, default in lines}


def read_from_the_environment() -> Iterator[tuple[str, object]]:
    """Each name that the settings ask for, with its default where that is a plain value."""
    for node in ast.walk(ast.parse((CONFIG / "settings.py").read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call) or not re.fullmatch(r"env\.\w+", ast.unparse(node.func)):
            continue
        if isinstance(node.args[0], ast.Constant):
            name = str(node.args[0].value)
            given = [*node.args[1:2], *(k.value for k in node.keywords if k.arg == "default")]
            yield name, next((one.value for one in given if isinstance(one, ast.Constant)), None)


def test_names_every_variable_and_no_other() -> None:
    assert told().keys() == {name for name, _ in read_from_the_environment()}


def test_tells_the_default_that_holds() -> None:
    defaults = told()
    for name, default in read_from_the_environment():
        if name in ("IDENTITY_KEY", "DOCS_URL"):  # empty means something else there
            continue
        if isinstance(default, bool):
            assert defaults[name] == str(int(default)), name
        elif isinstance(default, (str, int)) and name != "SECRET_KEY":
            assert defaults[name] == str(default), name
