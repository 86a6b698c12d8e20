"""Which tests an everyday check runs."""

import pytest

from tests import check


@pytest.mark.parametrize(
    ("changed", "own", "user"),
    [
        ("annotation/benchmarks/formats/layouts.py", "tests/annotation/benchmarks", None),
        ("scoring/core/s1.py", "tests/scoring/core", "tests/scoring/runs/test_import_runs.py"),
        ("templates/annotation/work/go_on.html", "tests/annotation/work", None),
        ("static/annotation/work/page.js", "tests/annotation/work", None),
        ("config/serve.py", "tests/config", None),
        ("tests/test_check.py", "tests/test_check.py", None),
    ],
)
def test_takes_the_room_and_who_imports_the_file(changed: str, own: str, user: str | None) -> None:
    chosen = check.tests_of([changed])
    assert own in chosen
    assert user is None or user in chosen
    assert set(check.ALWAYS) <= set(chosen)


def test_runs_nothing_twice_and_nothing_long() -> None:
    chosen = check.tests_of(["scoring/core/s1.py", "tests/scoring/core/test_s1.py"])
    assert "tests/scoring/core" in chosen
    assert "tests/scoring/core/test_s1.py" not in chosen
    assert not [name for name in chosen if name.startswith("tests/browser")]


def test_lints_by_what_kind_of_file_changed() -> None:
    def tools(*changed: str) -> set[str]:
        return {word for command in check.lints_of(changed) for word in command}

    assert not tools("CHANGELOG.md")
    assert {"ruff", "mypy"} <= tools("config/serve.py")
    assert "makemigrations" in tools("annotation/models/study.py")
    assert "djlint" in tools("templates/base.html")
    assert "tests/lint/scripts.sh" in tools("static/annotation/work/page.js")
