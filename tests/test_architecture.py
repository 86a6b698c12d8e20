"""The arrows between the parts: config → scoring → annotation → scoring.core."""

import ast
import re
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


# A kind named or compared: only the kinds themselves may, beside the list of their names.
LOOKS_AT_A_KIND = re.compile(
    r"\bKind\.[A-Z]|\bkind (?:==|!=|in) .*[\"'](?:choice|spans|candidate|text)[\"']"
)


def _lines_of(part: str, suffix: str) -> Iterator[tuple[str, str]]:
    for path in sorted((ROOT / part).rglob(f"*{suffix}")):
        if not {"migrations", "kinds"} & set(path.parts):
            for number, line in enumerate(path.read_text().splitlines(), start=1):
                yield f"{path.relative_to(ROOT)}, line {number}", line


@pytest.mark.parametrize(
    ("part", "suffix"), [("annotation", ".py"), ("scoring", ".py"), ("templates", ".html")]
)
def test_leaves_what_a_kind_of_answer_means_to_the_kinds(part: str, suffix: str) -> None:
    lines = _lines_of(part, suffix)
    assert [where for where, line in lines if LOOKS_AT_A_KIND.search(line)] == []


@pytest.mark.parametrize(
    "line", ["if task.kind == Kind.SPANS:", "    Kind.TEXT: 1,", '{% if content.kind == "spans" %}']
)
def test_notices_who_looks_at_a_kind(line: str) -> None:
    assert LOOKS_AT_A_KIND.search(line)


KINDS_MAY_IMPORT = ("annotation.kinds", "annotation.models", "scoring.core")


def test_lets_kinds_know_the_models_and_the_core_alone() -> None:
    wrong = [
        f"{path.relative_to(ROOT)} imports {module}"
        for path in sorted((ROOT / "annotation/kinds").glob("*.py"))
        for module in _imports(path)
        if module.split(".")[0] in OURS
        and not any(
            _is_within(module, name) or _is_within(name, module) for name in KINDS_MAY_IMPORT
        )
    ]
    assert wrong == []
