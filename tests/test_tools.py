"""The files that those who work on the project rely on say the same thing."""

import re
from typing import Any

import yaml
from django.conf import settings


def _text(path: str) -> str:
    return (settings.BASE_DIR / path).read_text()


def _yaml(path: str) -> dict[Any, Any]:
    return yaml.safe_load(_text(path))


def _linters() -> list[str]:
    match = re.search(r"^LINTS := (.+)$", _text("Makefile"), re.MULTILINE)
    assert match
    return match[1].split()


def test_every_linter_has_a_target() -> None:
    for linter in _linters():
        assert re.search(rf"^{linter}:", _text("Makefile"), re.MULTILINE), linter


def test_the_hooks_before_a_commit_run_what_make_lint_runs() -> None:
    hooks = [hook for repo in _yaml(".pre-commit-config.yaml")["repos"] for hook in repo["hooks"]]
    assert [hook["entry"] for hook in hooks] == [f"make {linter}" for linter in _linters()]
