"""The arrows between the parts: config → scoring → annotation → scoring.core."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
OURS = ("config", "scoring", "annotation", "tests")
# What a part may import of the project, beside itself.
ALLOWED = {
    "config": ("scoring", "annotation"),
    "scoring/core": (),
    "scoring": ("annotation", "scoring.core"),
    "annotation": ("scoring.core",),
}


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _files(part: str) -> Iterator[Path]:
    for path in sorted((ROOT / part).rglob("*.py")):
        inner = path.relative_to(ROOT).as_posix().startswith("scoring/core/")
        if part == "scoring" and inner:
            continue
        yield path


def _is_within(module: str, package: str) -> bool:
    return module == package or module.startswith(package + ".")


@pytest.mark.parametrize("part", ALLOWED)
def test_keeps_the_arrows(part: str) -> None:
    own = part.replace("/", ".")
    wrong = []
    for path in _files(part):
        modules = [m for m in _imports(path) if m.split(".")[0] in OURS]
        for module in modules:
            # "from scoring import core" names the package on the way to the module.
            allowed = any(
                _is_within(module, name) or _is_within(name, module)
                for name in (own, *ALLOWED[part])
            )
            if not allowed or (part == "annotation" and module == "scoring"):
                wrong.append(f"{path.relative_to(ROOT)} imports {module}")
    assert wrong == []


def test_the_core_works_without_django() -> None:
    code = (
        "import sys, pkgutil, importlib, scoring.core as core\n"
        "for module in pkgutil.iter_modules(core.__path__):\n"
        "    importlib.import_module(f'scoring.core.{module.name}')\n"
        "assert 'django' not in sys.modules, 'the core imports Django'\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


def test_uses_no_model_signals() -> None:
    forbidden = ("pre_save", "post_save", "pre_delete", "post_delete", "m2m_changed")
    for part in ("annotation", "scoring"):
        for path in _files(part):
            text = path.read_text()
            assert not any(name in text for name in forbidden), path
