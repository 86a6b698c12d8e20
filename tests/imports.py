"""What a file of the project imports, and what it is called."""

import ast
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent


@cache
def imports_of(path: Path) -> tuple[str, ...]:
    """What a file imports, by name or by a call of import_module or import_string."""
    return tuple(_imported_by(path))


def _imported_by(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and _is_dynamic(node.func):
            yield from (str(a.value) for a in node.args if isinstance(a, ast.Constant))


def arrows_of(path: Path, modules: Collection[str]) -> set[str]:
    """Those of these modules that a file names where it imports: of a package's module that alone,
    since most packages hold nothing themselves."""
    arrows = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            named = {f"{node.module}.{alias.name}" for alias in node.names}
            arrows |= {name if name in modules else str(node.module) for name in named}
        elif isinstance(node, ast.Import):
            arrows |= {alias.name for alias in node.names}
    return (arrows & set(modules)) - {module_of(path)}


def _is_dynamic(function: ast.expr) -> bool:
    name = getattr(function, "attr", getattr(function, "id", ""))
    return name in ("import_module", "import_string")


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts).removesuffix(".__init__")
