"""The files that real tools write are read, and the files that we write pass their check."""

import json
import subprocess
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from statistics import fmean

import pytest
from django.conf import settings
from django.core.management import call_command

from scoring.models import Run
from scoring.runs.scores import scores_of_run
from tests import tools
from tests.scoring.comparison import measured
from tests.scoring.runs.runs_from import answers

pytestmark = [pytest.mark.django_db, pytest.mark.models]

DEMO = settings.BASE_DIR / "annotation" / "simulation" / "demo" / "benchmark"
HERE = Path(__file__).parent
LABELS = ["negative", "positive"]

Validate = Callable[[], subprocess.CompletedProcess[str]]


def quiet(command: str, *arguments: object, **options: object) -> None:
    call_command(command, *map(str, arguments), **options, stdout=StringIO(), stderr=StringIO())


def run_tool(*arguments: str | Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """In a folder of its own, with nothing from outside; the tools' own words on a failure."""
    python = tools.find_python()
    assert python, "The tools of models are not there: run `make test-all`, which brings them."
    environment = {"HOME": str(folder), "HF_HUB_OFFLINE": "1", "PATH": "/usr/bin:/bin"}
    return subprocess.run(
        [python, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("script", "log"),
    [("run_inspect.py", "*.json"), ("run_harness.py", "*/samples_*.jsonl")],
    ids=["Inspect", "lm-evaluation-harness"],
)
def test_scores_what_a_tool_makes_of_our_prompts(script: str, log: str, tmp_path: Path) -> None:
    prompts = tmp_path / "prompts.jsonl"
    quiet("import_benchmark", DEMO, name="demo")
    quiet("export_prompts", task="reviews", shots=[10], split=[1], output=prompts)
    (tmp_path / "out").mkdir()
    done = run_tool(HERE / script, prompts, tmp_path / "out", folder=tmp_path)
    assert done.returncode == 0, done.stderr[-1500:]
    [written] = (tmp_path / "out").glob(log)
    quiet("import_runs", written, "--system", "By length", "--shots", "10", "--split", "1")
    run = Run.objects.get()
    given = {line["id"]: LABELS[len(line["prompt"]) % 2] for line in rows(prompts)}
    gold = {str(row["id"]): row["answer"][0] for row in rows(DEMO / "Reviews/reviews_test.jsonl")}
    assert set(given.values()) == set(LABELS)
    assert answers(run) == {number: [label] for number, label in given.items()}
    right = 100 * fmean(given[number] == label for number, label in gold.items())
    assert scores_of_run(run)[0].mean == pytest.approx(right)
    assert run.coverage == 1


def rows(file: Path) -> list[dict]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


class TestEveryEvalEver:
    """Its own validator, on the records and the samples of people and of systems."""

    @pytest.fixture
    def validate(self, tmp_path: Path) -> Validate:
        batch = measured.cell([3, 4, 5], tests=6)
        measured.run(batch.task, wrong=2, parameters="110M")
        measured.run(batch.task, wrong=1, missing=2, system="Some")
        quiet("export_every_eval_ever", study=batch.study.slug, output=tmp_path)
        arguments = ["-m", "every_eval_ever", "validate", "data/*/*/*/*.json", "data/*/*/*/*.jsonl"]
        return lambda: run_tool(*arguments, folder=tmp_path)

    def test_passes_our_export(self, validate: Validate) -> None:
        done = validate()
        assert done.returncode == 0, done.stdout[-1500:]
        assert "10 passed, 0 warning-only, 0 failed" in done.stdout

    def test_would_notice_what_is_missing(self, validate: Validate, tmp_path: Path) -> None:
        record = next(tmp_path.rglob("*.json"))
        log = json.loads(record.read_text(encoding="utf-8"))
        del log["evaluation_results"]
        record.write_text(json.dumps(log), encoding="utf-8")
        done = validate()
        assert done.returncode == 1
        assert "evaluation_results" in done.stdout
