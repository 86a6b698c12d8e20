"""The settings that are documented are those that there are."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

from config.documentation.variables import VARIABLES

CONFIG = Path(settings.BASE_DIR) / "config"


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
    assert sorted(one.name for one in VARIABLES) == sorted(
        {name for name, _ in read_from_the_environment()}
    )


def test_tells_the_default_that_holds() -> None:
    told = {one.name: one.default for one in VARIABLES}
    for name, default in read_from_the_environment():
        if name in ("IDENTITY_KEY", "DOCS_URL"):  # empty means something else there
            continue
        if isinstance(default, bool):
            assert told[name] == str(int(default)), name
        elif isinstance(default, (str, int)) and name != "SECRET_KEY":
            assert told[name] == str(default), name
