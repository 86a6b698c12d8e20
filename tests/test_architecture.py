"""The arrows between the parts (config → scoring → annotation → scoring.core, scoring.tables),
between the rooms of each part, and between the files of a room.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from annotation.models import Kind
from tests.imports import ROOT, arrows_of, imports_of, module_of

OURS = ("config", "scoring", "annotation", "tests")
# What a part may import from the project, besides itself.
PARTS = {
    "config": ("scoring", "annotation"),
    "scoring.core": (),
    "scoring.tables": (),
    "scoring": ("annotation", "scoring.core", "scoring.tables"),
    "annotation": ("scoring.core", "scoring.tables"),
}
COMPARED = ("cells", "contrasts", "comparison", "analysis")
# What a room may import from its own part. A room that is not named here does not exist.
ROOMS = {
    "annotation.models": (),
    "annotation.access": ("models",),
    "annotation.kinds": ("models",),
    "annotation.jobs": ("models", "access"),
    "annotation.benchmarks": ("models", "access", "kinds", "jobs"),
    "annotation.work": ("models", "access", "kinds", "jobs", "benchmarks"),
    "annotation.studies": ("models", "access", "kinds", "jobs", "benchmarks", "work"),
    "annotation.payments": ("models", "access", "jobs", "work", "studies"),
    "annotation.people": (
        *("models", "access", "kinds", "jobs", "benchmarks", "work", "studies", "payments"),
    ),
    "annotation.prolific": ("models", "access", "work", "studies", "payments"),
    "annotation.webhooks": ("models", "access", "studies"),
    "annotation.simulation": (
        *("models", "access", "kinds", "jobs", "benchmarks", "work", "studies", "payments"),
    ),
    "annotation.admin": ("models", "access", "kinds", "jobs", "benchmarks", "work", "studies"),
    "annotation.api": (
        *("models", "access", "kinds", "jobs", "benchmarks", "work", "studies"),
        *("people", "payments", "simulation", "webhooks"),
    ),
    "annotation.management": (
        *("models", "access", "kinds", "benchmarks", "studies", "payments", "simulation"),
    ),
    "scoring.core": (),
    "scoring.tables": (),
    "scoring.models": (),
    "scoring.claims": ("models",),
    "scoring.cells": ("core", "tables", "models"),
    "scoring.contrasts": ("core", "tables", "models", "cells"),
    "scoring.comparison": ("core", "tables", "models", "claims", "cells", "contrasts"),
    "scoring.analysis": ("core", "tables", "models", "cells", "contrasts", "comparison"),
    "scoring.figures": ("core", "tables", "models", *COMPARED),
    "scoring.samples": ("core", "models", "cells", "comparison"),
    "scoring.bundle": ("core", "tables", "models", "cells", "comparison"),
    "scoring.runs": ("core", "models", "cells", "samples"),
    "scoring.elsewhere": ("core", "runs", "tables"),
    "scoring.leaderboard": ("core", "tables", "models", "cells", "contrasts", "comparison"),
    "scoring.episodes": ("core", "tables", "models", "cells", "comparison", "runs", "leaderboard"),
    "scoring.planning": ("core", "tables", "models", "cells", "figures"),
    "scoring.prompts": ("core", "models", "runs"),
    "scoring.asking": ("models", "prompts", "runs", "tuning"),
    "scoring.tuning": ("core", "models", "runs", "prompts"),
    "scoring.report": ("core", "tables", "models", *COMPARED, "planning"),
    "scoring.studies": ("cells", "comparison", "planning", "report"),
    "scoring.admin": ("models", "cells", "runs", "leaderboard", "asking"),
    "scoring.api": ("comparison", "report", "bundle", "runs", "elsewhere"),
    "scoring.management": (
        *("core", "tables", "models", "cells", "comparison", "analysis", "runs", "samples"),
        *("leaderboard", "episodes", "planning", "prompts", "report", "asking", "tuning", "bundle"),
        "elsewhere",
    ),
}
# The files at a room's edge: they know the web, the queue or the console. All
# others are acts, figures and models, and know none of these.
EDGES = {
    "urls", "views", "requests", "forms", "tasks", "api", "serializers", "cookies", "links",
    "item_views", "export_views", "correction_views", "entering", "throttles",
    "tabs", "settings_form", "settings_page", "account_page", "benchmark_page",
    "members_page", "listing",
    "crowding", "refusing", "speaking", "authenticating",
}  # fmt: skip
EDGE_ROOMS = {"admin", "api", "management"}
WEB = (
    "celery", "django.http", "django.shortcuts", "django.urls", "django.views", "django.forms",
    "rest_framework", "drf_spectacular",
)  # fmt: skip


def _files(part: str) -> Iterator[Path]:
    folder = ROOT / part.replace(".", "/")
    for path in sorted(folder.rglob("*.py")):
        inner = path.relative_to(ROOT).as_posix().startswith(("scoring/core/", "scoring/tables/"))
        if not (part == "scoring" and inner):
            yield path


def _is_within(module: str, package: str) -> bool:
    return module == package or module.startswith(package + ".")


@pytest.mark.parametrize("part", PARTS)
def test_keeps_the_arrows_between_parts(part: str) -> None:
    wrong = []
    for path in _files(part):
        for module in (m for m in imports_of(path) if m.split(".")[0] in OURS):
            # "from scoring import core" names the package on the way to the module.
            allowed = any(
                _is_within(module, name) or _is_within(name, module)
                for name in (part, *PARTS[part])
            )
            if not allowed or (part == "annotation" and module == "scoring"):
                wrong.append(f"{path.relative_to(ROOT)} imports {module}")
    assert wrong == []


def test_names_every_room() -> None:
    rooms = {
        f"{part}.{folder.name}"
        for part in ("annotation", "scoring")
        for folder in (ROOT / part).iterdir()
        if folder.is_dir() and folder.name not in ("migrations", "__pycache__")
    }
    assert rooms == set(ROOMS)


@pytest.mark.parametrize("room", ROOMS)
def test_keeps_the_arrows_between_rooms(room: str) -> None:
    part, _, own = room.partition(".")
    others = {name.partition(".")[2] for name in ROOMS if name.startswith(part)}
    forbidden = {f"{part}.{other}" for other in others - {own, *ROOMS[room]}}
    wrong = [
        f"{path.relative_to(ROOT)} imports {module}"
        for path in _files(room)
        for module in imports_of(path)
        if any(_is_within(module, name) for name in forbidden)
    ]
    assert wrong == []


MOST_IN_A_CHAIN = 20


def test_has_no_circle_and_no_long_chain() -> None:
    files = {
        module_of(path): path
        for part in ("annotation", "scoring", "config")
        for path in (ROOT / part).rglob("*.py")
        if "migrations" not in path.parts
    }
    arrows = {module: arrows_of(path, files) for module, path in files.items()}
    chains: dict[str, list[str]] = {}
    # Raises CycleError, with the circle.
    for module in TopologicalSorter(arrows).static_order():
        longest = max((chains[other] for other in arrows[module]), key=len, default=[])
        chains[module] = [module, *longest]
    assert [chain for chain in chains.values() if len(chain) > MOST_IN_A_CHAIN] == []


def test_finds_an_arrow_that_is_not_allowed(tmp_path: Path) -> None:
    """The two ways to import what the tests above look for."""
    path = tmp_path / "views.py"
    path.write_text('from scoring.core import s1\nimport_module("scoring.runs.api")\n')
    assert list(imports_of(path)) == ["scoring.core", "scoring.core.s1", "scoring.runs.api"]


def test_acts_know_no_web_and_no_queue() -> None:
    wrong = []
    for room in ROOMS:
        for path in _files(room):
            folders = path.relative_to(ROOT).parts[1:-1]
            if path.stem in EDGES or EDGE_ROOMS & set(folders):
                continue
            for module in imports_of(path):
                if any(_is_within(module, name) for name in WEB):
                    wrong.append(f"{path.relative_to(ROOT)} imports {module}")
    assert wrong == []


@pytest.mark.parametrize("room", ["scoring.core", "scoring.tables"])
def test_the_ground_floor_works_without_django(room: str) -> None:
    code = (
        f"import sys, pkgutil, importlib, {room} as room\n"
        "for module in pkgutil.iter_modules(room.__path__):\n"
        "    importlib.import_module(f'{room.__name__}.{module.name}')\n"
        "assert 'django' not in sys.modules, f'{room.__name__} imports Django'\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


def test_uses_no_model_signals() -> None:
    # A field's own method of that name is no signal.
    forbidden = re.compile(r"(?<!def )(pre_save|post_save|pre_delete|post_delete|m2m_changed)")
    for part in ("annotation", "scoring"):
        for path in _files(part):
            assert not forbidden.search(path.read_text()), path


# What only the clock of annotation/models/clock.py may tell, and who else may, and why.
OTHER_CLOCKS = re.compile(r"\btimezone\.now\b|\bdatetime\.now\b|\bmodels\.DateTimeField\(auto_now")
MAY_ASK_THE_MACHINE = {
    "annotation/models/clock.py": "it is the clock, and compares the machine's with it",
    "config/middleware.py": "django-axes wrote when people signed in, by the machine's clock",
}


def test_one_clock_tells_what_is_paid_leased_swept_or_ordered() -> None:
    asking = {
        path.relative_to(ROOT).as_posix()
        for part in ("annotation", "scoring", "config")
        for path in (ROOT / part).rglob("*.py")
        if "migrations" not in path.parts and OTHER_CLOCKS.search(path.read_text())
    }
    assert asking == set(MAY_ASK_THE_MACHINE)


# A kind named or compared: only the kinds themselves may, beside the list of their names.
LOOKS_AT_A_KIND = re.compile(
    rf"\bKind\.[A-Z]|\bkind (?:==|!=|in) .*[\"'](?:{'|'.join(Kind.values)})[\"']"
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
        for module in imports_of(path)
        if module.split(".")[0] in OURS
        and not any(
            _is_within(module, name) or _is_within(name, module) for name in KINDS_MAY_IMPORT
        )
    ]
    assert wrong == []


# Where these begin a docstring, the thought begins in the middle: what is of, by or for something?
BEGINS_IN_THE_MIDDLE = re.compile(
    r"(Of|Into|About|With|Without|In|By|From|At|On|Under|To|Beside|Before|After|Also|Empty|None|As"
    r"|For|Such|Over|Where|Behind|Up|Until|Since|Once|Not|Neither|Only)\b"
)


def _public_docstrings() -> Iterator[tuple[str, str]]:
    for part in ("annotation", "scoring", "config"):
        for path in sorted((ROOT / part).rglob("*.py")):
            if "migrations" in path.parts:
                continue
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name[0] != "_":
                    yield f"{module_of(path)}.{node.name}", ast.get_docstring(node) or ""


def test_begins_a_docstring_with_a_verb_or_with_what_comes_back() -> None:
    told = dict(_public_docstrings())
    assert len(told) > 2000
    assert [name for name, text in told.items() if BEGINS_IN_THE_MIDDLE.match(text)] == []
