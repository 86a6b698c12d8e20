"""The files that real tools write are read, and the files that we write pass their check."""

import json
import subprocess
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from unittest.mock import AsyncMock

import pytest
from django.conf import settings
from django.core.management import call_command

from annotation.kinds import answer_kind
from annotation.kinds.gold import gold_in_force
from annotation.models import Task
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
    ("arguments", "log"),
    [
        (["run_inspect.py"], "*.eval"),
        (["run_harness.py", "by-length"], "*/samples_*.jsonl"),
        (["run_harness.py", "dummy"], "*/samples_*.jsonl"),
    ],
    ids=["Inspect's mockllm", "lm-evaluation-harness", "lm-evaluation-harness's dummy"],
)
def test_scores_what_a_tool_makes_of_our_prompts(
    arguments: list[str], log: str, tmp_path: Path
) -> None:
    """From the export to the import, and to the same figure as the tool's own."""
    prompts = exported_with_targets(tmp_path / "prompts.jsonl")
    script, *model = arguments
    figure, run = asked_by(script, prompts, LABELS, *model, log=log)
    assert (run.shots, run.split) == (10, 1), "as the prompts say, not the tool"
    if model != ["dummy"]:
        given = {line["example"]: LABELS[len(line["prompt"]) % 2] for line in rows(prompts)}
        assert answers(run) == {number: [label] for number, label in given.items()}
    assert set(map(tuple, answers(run).values())) == {(label,) for label in LABELS}
    assert scores_of_run(run)[0].mean == pytest.approx(100 * figure)
    assert run.coverage == 1


def asked_by(
    script: str, prompts: Path, replies: list[str], *model: str, log: str
) -> tuple[float, Run]:
    """The tool's own figure, and its log as a run."""
    out = prompts.parent / "out"
    out.mkdir(exist_ok=True)
    given: tuple[str | Path, ...] = (prompts, out, json.dumps(replies), *model)
    done = run_tool(HERE / script, *given, folder=prompts.parent)
    assert done.returncode == 0, done.stderr[-1500:]
    [written] = out.glob(log)
    quiet("import_runs", written, "--system", "By length")
    figure = float((out / "figure").read_text())
    assert 0 < figure < 1
    return figure, Run.objects.get()


TOWNS = ["Lagos", "Nairobi", "Accra", "Kampala"]
# As MMLU and GSM8K are published; the file, its rows, and what the model replies.
TABLES = {
    "options of each question": (
        "towns.csv",
        "question,choices,answer\n"
        + "".join(f'Which is number {n}{"?" * (n % 7)},"{TOWNS}",{n % 4}\n' for n in range(40)),
        ["A", "B", "C", "D"],
    ),
    "numbers": (
        "sums.jsonl",
        "".join(
            json.dumps({"question": f"And {n}{'?' * (n % 7)}", "answer": f"So.\n#### {n % 3}"})
            + "\n"
            for n in range(40)
        ),
        ["0", "1", "2"],
    ),
}


@pytest.mark.parametrize("shots", [0, 5])
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize(
    ("arguments", "log"),
    [(["run_inspect.py"], "*.eval"), (["run_harness.py", "by-length"], "*/samples_*.jsonl")],
    ids=["Inspect", "lm-evaluation-harness"],
)
def test_scores_a_table_as_the_tool_does(
    arguments: list[str], log: str, table: str, shots: int, tmp_path: Path
) -> None:
    name, rows_as_text, replies = TABLES[table]
    (tmp_path / name).write_text(rows_as_text)
    draw = {"draw_shots": [5], "splits": 1, "draw_test": 30, "seed": 7}
    quiet("import_benchmark", tmp_path / name, name="table", **draw)
    prompts = tmp_path / "prompts.jsonl"
    quiet("export_prompts", benchmark="table", shots=[shots], output=prompts)
    with_targets(prompts)
    script, *model = arguments
    figure, run = asked_by(script, prompts, replies, *model, log=log)
    assert (run.shots, run.coverage) == (shots, 1)
    assert scores_of_run(run)[0].mean == pytest.approx(100 * figure)


def with_targets(prompts: Path) -> None:
    """The gold as the prompts ask for it."""
    task = Task.objects.get()
    version = task.latest_gold_version().number
    items = {
        item.source_id: item.example_id for item in task.item_sets.get(name="test").items.all()
    }
    golds = gold_in_force(items.values(), task.pk, version)
    kind = answer_kind(task.kind)
    lines = []
    for line in rows(prompts):
        answer = golds[items[line["example"]]].alternative_texts()[0]
        target = kind.as_shown(answer, lettered="labels" in line)
        lines.append(json.dumps({**line, "target": target}) + "\n")
    prompts.write_text("".join(lines), encoding="utf-8")


def exported_with_targets(path: Path) -> Path:
    """What an export never holds: the gold, from the file that was imported."""
    quiet("import_benchmark", DEMO, name="demo")
    quiet("export_prompts", task="reviews", shots=[10], split=[1], output=path)
    gold = {str(row["id"]): row["answer"][0] for row in rows(DEMO / "Reviews/reviews_test.jsonl")}
    lines = [{**line, "target": gold[line["example"]]} for line in rows(path)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def test_asks_a_model_that_inspect_mocks() -> None:
    """The command itself, by its own name of the model."""
    quiet("import_benchmark", DEMO, name="demo")
    with pytest.MonkeyPatch.context() as patched:
        # It would count tokens with a vocabulary from outside.
        counting = "inspect_ai.model._providers.mockllm.MockLLM._ensure_default_usage"
        patched.setattr(counting, AsyncMock())
        quiet("run_model", "mockllm/model", task=["reviews"], shots=[10], splits=[1])
    run = Run.objects.get()
    assert (run.system, run.shots, run.split, run.coverage) == ("mockllm/model", 10, 1, 1)
    assert set(map(tuple, answers(run).values())) == {("Default output from mockllm/model",)}
    assert scores_of_run(run)[0].mean == 0
    assert run.report["outside"] == run.report["matched"], "read as a person would: no label"


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
