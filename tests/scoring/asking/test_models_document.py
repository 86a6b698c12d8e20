"""Every command of docs/how-to/models.md that asks a model runs, as it stands there."""

import os
import re
import shlex
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import call_command, load_command_class

from scoring.models import Run
from tests import make
from tests.documentation import blocks
from tests.scoring.asking.endpoint import Endpoint, Said, endpoint

pytestmark = pytest.mark.django_db(transaction=True)

ROOT = settings.BASE_DIR
PAGE = "docs/how-to/models.md"
DOCUMENT = (ROOT / PAGE).read_text(encoding="utf-8")
IN_CONTEXT = DOCUMENT.partition("## In-context learning")[2].partition("\n## Fine-tuning")[0]


def commands() -> list[str]:
    """The environment of the tests has been made already."""
    return [command.line for command in blocks.commands(PAGE) if command.way == "stand-in"]


def as_here(line: str, served: Endpoint) -> list[str]:
    values = {"http://127.0.0.1:8080/v1": served.url, "NAME": "toy", "SLUG": "mood"}
    words = [values.get(word, word) for word in shlex.split(line)]
    if "PROVIDER/MODEL" in words:
        is_inspect = words[0] == "inspect"
        named = "openai-api/endpoint/inspected" if is_inspect else "model-of-provider"
        words = [named if word == "PROVIDER/MODEL" else word for word in words]
        words += ["--model-base-url" if is_inspect else "--base-url", served.url]
    return words


def called(words: list[str]) -> None:
    program, command, *arguments = words
    if program == "inspect":
        inspected([command, *arguments])
        return
    assert program == "manage.py"
    out = StringIO()
    if ">" in arguments:
        *arguments, _, target = arguments
        call_command(command, *arguments, stdout=out, stderr=StringIO())
        Path(target).write_text(out.getvalue())
    else:
        call_command(command, *arguments, stdout=out, stderr=StringIO())


def inspected(arguments: list[str]) -> None:
    """Inspect by itself: the file is the project's, prompts and logs lie in the folder of the
    test."""
    here = Path.cwd()
    words = [word.replace("$PWD", str(here)) for word in arguments]
    environment = {
        **os.environ,
        "ENDPOINT_API_KEY": "none",
        "INSPECT_LOG_DIR": str(here / "logs"),
        "INSPECT_DISPLAY": "none",
        "HOME": str(here),
    }
    done = subprocess.run(
        [sys.executable, "-m", "inspect_ai", *words],
        cwd=ROOT, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-1500:] + done.stderr[-1500:]


def test_every_command_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    make.task(make.benchmark("toy"), slug="mood", training=10, tests=4)
    with endpoint(lambda *_: Said("good")) as served:
        ways = [as_here(line, served) for line in commands()]
        assert len(ways) == 7
        *until_export, inspect, log, read, take = ways
        for way in (*until_export, inspect, log):
            called(way)
    lines = Path("prompts.jsonl").read_text().splitlines()
    Path("answers.jsonl").write_text("\n".join(f'{line[:-1]}, "answer": "bad"}}' for line in lines))
    called(read)
    called(take)
    runs = Run.objects.order_by("pk")
    assert [(run.system, run.shots, run.coverage) for run in runs] == [
        ("MODEL", 10, 1),
        ("model-of-provider", 0, 1),
        ("model-of-provider", 10, 1),
        ("openai-api/endpoint/inspected", 10, 1),
        ("MODEL", 10, 1),
    ]
    assert Run.objects.get(system__startswith="openai").source_format == "Inspect log (.eval)"


def test_names_every_option_that_the_command_has() -> None:
    parser = load_command_class("scoring", "run_model").create_parser("manage.py", "run_model")
    options = set(re.findall(r"--[a-z][a-z-]+", parser.format_help()))
    own = options & set(re.findall(r"--[a-z][a-z-]+", IN_CONTEXT))
    general = {"--help", "--version", "--verbosity", "--settings", "--pythonpath", "--traceback"}
    general |= {"--no-color", "--force-color", "--skip-checks", "--owner", "--benchmark"}
    assert options - own <= general
