"""The files that those who work on the project rely on say the same thing."""

import ast
import os
import re
import subprocess
import sys
import tarfile
import tomllib
from importlib.metadata import distributions, packages_distributions
from pathlib import Path
from typing import Any

import yaml
from django.conf import settings
from packaging.specifiers import SpecifierSet
from pathspec import GitIgnoreSpec

from tests.every import every
from tests.imports import ROOT, imports_of


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


def test_nothing_is_said_of_all_of_none() -> None:
    """`all` of nothing is true: a test says `every`."""
    files = [*(settings.BASE_DIR / "tests").rglob("*.py")]
    assert len(files) > 300
    assert [f.name for f in files if re.search(r"^\s*assert all\(", f.read_text(), re.M)] == []


def test_the_hooks_before_a_commit_run_what_make_lint_runs() -> None:
    hooks = [hook for repo in _yaml(".pre-commit-config.yaml")["repos"] for hook in repo["hooks"]]
    assert [hook["entry"] for hook in hooks] == [f"make {linter}" for linter in _linters()]


def test_the_workflow_runs_what_has_to_pass_with_a_database_server_and_without() -> None:
    jobs = _yaml(".github/workflows/ci.yml")["jobs"]
    tools = jobs.pop("tools-of-others")
    assert tools["steps"][-1]["run"] == 'make test-all ARGS="-m models"'
    assert jobs.pop("next-django")["continue-on-error"]
    jobs = jobs.values()
    assert every(".ci/run" in [step.get("run") for step in job["steps"]] for job in jobs)
    assert {bool(job.get("services")) for job in jobs} == {True, False}
    assert every(("DATABASE_URL" in job.get("env", {})) == ("services" in job) for job in jobs)


def test_the_workflow_runs_the_lowest_python_that_is_promised_and_a_newer_one() -> None:
    workflow = _yaml(".github/workflows/ci.yml")
    # Without the quotation marks 3.10 would be 3.1.
    versions = workflow["jobs"]["with-postgresql"]["strategy"]["matrix"]["python"]
    lowest = _project()["requires-python"].removeprefix(">=")
    assert versions[0] == lowest
    assert [_numbers(version) for version in versions] == sorted(map(_numbers, set(versions)))
    assert len(versions) > 1


def test_what_has_to_pass_is_the_linters_and_the_tests_of_the_readme() -> None:
    commands = [line for line in _text(".ci/run").splitlines() if "make" in line]
    assert commands == ["make lint", "COVERAGE=1 make test"]
    assert re.search(r"^make test ", _text("README.md"), re.MULTILINE)


def test_changes_modules_that_are_there() -> None:
    """`make mutants` without MODULE refuses to begin where one is not."""
    named = re.search(r"patsubst %,annotation/work/%\.py,([a-z ]+)\)", _text("Makefile"))
    assert named
    for name in named[1].split():
        assert (ROOT / "annotation" / "work" / f"{name}.py").is_file(), name


def test_the_lock_holds_what_the_requirements_pin() -> None:
    pins = re.compile(r"^([\w.-]+)(?:\[\w+\])?==([\w.]+)", re.MULTILINE)
    locked = {_normal(name): version for name, version in pins.findall(_text("requirements.lock"))}
    wanted = {_normal(name): version for name, version in pins.findall(_text("requirements.txt"))}
    assert wanted.items() <= locked.items(), "run `make lock`"
    held = {_normal(name): version for name, version in pins.findall(_text("constraints.txt"))}
    # Some are for other platforms only, and not held here.
    assert {name: locked[name] for name in held.keys() & locked.keys()}.items() <= held.items()


def test_what_is_pinned_serves_the_lowest_python_that_is_promised() -> None:
    """Down to its first release: Debian's own is older than what some packages ask for."""
    lowest = _project()["requires-python"].removeprefix(">=") + ".0"
    asked = {d.name: d.metadata["Requires-Python"] for d in distributions()}
    refused = {
        n for n, versions in asked.items() if not SpecifierSet(versions or "").contains(lowest)
    }
    assert len(asked) > 100
    assert refused == set()


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_everything_in_the_lock_is_known_by_its_content() -> None:
    pins = re.split(r"^(?=[\w.-]+==)", _text("requirements.lock"), flags=re.MULTILINE)[1:]
    assert len(pins) > 30
    assert every("--hash=sha256:" in pin for pin in pins)


# What no requirement has to bring: it is optional, and the code says what to install.
OPTIONAL = {"inspect_ai", "openai", "tenacity", "torch", "transformers", "pyarrow"}


def test_what_the_product_imports_is_required_by_name() -> None:
    apps = (ROOT / app for app in ("annotation", "scoring", "config"))
    files = [file for app in apps for file in app.rglob("*.py")]
    tops = {name.partition(".")[0] for file in files for name in imports_of(file)}
    brought = packages_distributions()
    theirs = {name for name in tops if name in brought} - OPTIONAL
    assert "urllib3" in theirs
    pins = re.findall(r"^([\w.-]+)(?:\[\w+\])?==", _text("requirements.txt"), re.MULTILINE)
    required = {_normal(name) for name in pins}
    assert {n for n in theirs if not required & {_normal(one) for one in brought[n]}} == set()


ASKING, MODELS = "requirements-asking.txt", "requirements-models.txt"


def test_models_behind_an_address_are_asked_without_what_tunes_them() -> None:
    assert "torch" not in _text(ASKING)
    assert f"-r {ASKING}" in _text(MODELS).splitlines()


def test_models_are_asked_by_the_same_versions_in_the_tests_and_elsewhere() -> None:
    pins = {line for line in (_text(MODELS) + _text(ASKING)).splitlines() if "==" in line}
    for tool in ("inspect-ai", "openai"):
        [pin] = [line for line in pins if line.startswith(f"{tool}==")]
        assert pin in _text("requirements-dev.txt").splitlines()
        if tool == "inspect-ai":
            assert pin in _text("requirements-tools.txt").splitlines()
    own = _text("requirements-tools.txt").splitlines()
    assert {pin for pin in pins if pin.startswith(("torch==", "transformers=="))} <= set(own)


def test_the_changelog_begins_with_what_the_version_says() -> None:
    version, development, _ = _project()["version"].partition(".dev0")
    newest = re.findall(r"^## (.+)$", _text("CHANGELOG.md"), re.MULTILINE)[0]
    released = rf"{re.escape(version)} \(\d{{4}}-\d\d-\d\d\)"
    assert re.fullmatch("Unreleased" if development else released, newest)


def test_the_page_on_citing_names_the_newest_release() -> None:
    newest = re.findall(r"^## (\d[\d.]+) \(", _text("CHANGELOG.md"), re.MULTILINE)[0]
    assert f"version = {{{newest}}}" in _text("docs/cite.md")


def test_the_version_stands_in_one_place() -> None:
    version = _project()["version"]
    for part in ("annotation", "config", "scoring"):
        for path in (settings.BASE_DIR / part).rglob("*.py"):
            text = path.read_text()
            if version not in text and "__version__" not in text:
                continue
            for node in ast.walk(ast.parse(text)):
                own_name = isinstance(node, ast.Name) and node.id == "__version__"
                assert not own_name, path
                assert not (isinstance(node, ast.Constant) and node.value == version), path


def _project() -> dict[str, Any]:
    return tomllib.loads(_text("pyproject.toml"))["project"]


def _numbers(version: str) -> list[int]:
    return [int(number) for number in version.split(".")]


def test_the_archive_of_a_release_holds_the_project_and_nothing_else(tmp_path: Path) -> None:
    """Whoever unpacks it has what somebody with the repository has, and `make run` starts it."""
    for path in tracked():
        copy = tmp_path / "project" / path
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes((settings.BASE_DIR / path).read_bytes())
    for path in (".env", "var/secret-key", "db.sqlite3", ".venv/made"):
        left = tmp_path / "project" / path
        left.parent.mkdir(parents=True, exist_ok=True)
        left.write_text("a secret")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(tmp_path)]
    subprocess.run(build, cwd=tmp_path / "project", check=True, capture_output=True)
    [archive] = tmp_path.glob("baseliner-*.tar.gz")
    with tarfile.open(archive) as packed:
        names = {name.partition("/")[2] for name in packed.getnames()}
    assert names == {*tracked(), "PKG-INFO"}


def tracked() -> list[str]:
    """What lies here and is not ignored, whether or not git is there."""
    ignored = GitIgnoreSpec.from_lines([*_text(".gitignore").splitlines(), ".git", "PKG-INFO"])
    names = []
    for folder, folders, files in os.walk(settings.BASE_DIR):
        place = Path(folder).relative_to(settings.BASE_DIR)
        folders[:] = [name for name in folders if not ignored.match_file(f"{place / name}/")]
        names += [str(place / name) for name in files]
    return [name for name in names if not ignored.match_file(name)]
