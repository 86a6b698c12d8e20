import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

CORE = Path(__file__).parents[3] / "scoring" / "core"
MODULES = sorted(path.stem for path in CORE.glob("*.py") if path.stem != "__init__")
STATEFUL = {"time", "datetime", "random", "secrets", "uuid"}


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or "."


def test_imports_without_django() -> None:
    names = ", ".join(f"scoring.core.{module}" for module in MODULES)
    code = f"import sys, {names}; sys.exit('django' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=CORE.parents[1], check=False)
    assert done.returncode == 0


@pytest.mark.parametrize("module", MODULES)
def test_uses_only_numbers_and_the_standard_library(module: str) -> None:
    found = set(imports(CORE / f"{module}.py"))
    outside = {name.split(".")[0] for name in found if not name.startswith("scoring.core")}
    assert outside <= {"numpy", "scipy"} | set(sys.stdlib_module_names)
    assert not outside & STATEFUL
