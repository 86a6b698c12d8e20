"""What a prompt says of itself is believed before what a tool or an option says."""

import json
from collections.abc import Callable, Iterable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Benchmark, Kind, Role
from scoring.models import Run
from scoring.runs.formats.records import of_prompt_id, prompt_id, prompted
from tests import make
from tests.every import every
from tests.scoring.runs.runs_from import answers, imported, written

pytestmark = pytest.mark.django_db

Line = dict[str, Any]
WHO = {"system": "Toy", "method": "ICL"}


def benchmark_of_splits() -> Benchmark:
    """A task with two shot sets of three examples."""
    benchmark = make.benchmark("toy")
    task = make.task(benchmark, slug="mood", training=3)
    examples = [make.example(task, f"other {n}", role=Role.TRAINING) for n in range(3)]
    make.item_set(task, examples, name="train-3-2", shots=3, split=2)
    return benchmark


def exported(**options: Any) -> list[Line]:
    out = StringIO()
    call_command("export_prompts", stdout=out, **options)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def reply(line: Line) -> str:
    return "A." if "test 1" in line["id"] else "The answer is **good**."


def harness(lines: Iterable[Line], tmp_path: Path) -> Path:
    """As lm-evaluation-harness writes them, which knows only that it gave no shots itself."""
    rows = [
        {
            "doc_id": number,
            "doc": line,
            "target": "none",
            "arguments": {"gen_args_0": {"arg_0": line["prompt"], "arg_1": {"until": []}}},
            "resps": [[reply(line)]],
            "filtered_resps": [reply(line)],
            "filter": "none",
        }
        for number, line in enumerate(lines)
    ]
    date = "2026-11-21T04-31-20.222666"
    results = {"results": {}, "n-shot": {"mood": 0}, "config": {"model": "toy"}}
    (tmp_path / f"results_{date}.json").write_text(json.dumps(results))
    return written(tmp_path / f"samples_mood_{date}.jsonl", rows)


def inspect_log(lines: Iterable[Line], tmp_path: Path, *, metadata: bool) -> Path:
    samples = [
        {
            "id": line["id"] if not metadata else number,
            "epoch": 1,
            "input": line["prompt"],
            "output": {"completion": reply(line)},
            "metadata": line if metadata else {},
        }
        for number, line in enumerate(lines)
    ]
    header = {"task": "mood", "model": "toy", "task_args": {"fewshot": 0}}
    path = tmp_path / "log.json"
    log = {"version": 2, "status": "success", "eval": header, "samples": samples}
    path.write_text(json.dumps(log))
    return path


def helm_run(lines: Iterable[Line], tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    folder.mkdir()
    adapter = {"model": "toy", "max_train_instances": 0, "method": "generation"}
    (folder / "run_spec.json").write_text(json.dumps({"name": "mood:", "adapter_spec": adapter}))
    states = [
        {
            "instance": {"id": line["id"], "input": {"text": line["prompt"]}},
            "train_trial_index": 0,
            "request": {"prompt": line["prompt"]},
            "result": {"completions": [{"text": reply(line)}]},
        }
        for line in lines
    ]
    (folder / "scenario_state.json").write_text(json.dumps({"request_states": states}))
    return folder


def own_lines(lines: Iterable[Line], tmp_path: Path) -> Path:
    """Somebody's own file, which names every prompt by its id alone."""
    header = {"system": "Toy", "method": "ICL", "task": "mood", "shots": 0}
    rows = [
        {"id": line["id"], "prediction": ["bad" if "A." in reply(line) else "good"]}
        for line in lines
    ]
    return written(tmp_path / "own.jsonl", [header, *rows])


TOOLS: dict[str, Callable[[Iterable[Line], Path], Path]] = {
    "lm-evaluation-harness": harness,
    "Inspect, metadata": lambda lines, path: inspect_log(lines, path, metadata=True),
    "Inspect, ids": lambda lines, path: inspect_log(lines, path, metadata=False),
    "HELM": helm_run,
    "own lines": own_lines,
}


@pytest.mark.parametrize("tool", TOOLS)
def test_finds_every_run_by_what_its_prompts_say(tool: str, tmp_path: Path) -> None:
    """Three runs in one file, of which the tool knows none."""
    benchmark = benchmark_of_splits()
    lines = exported()
    assert len(lines) == 12
    report = imported(TOOLS[tool](lines, tmp_path), benchmark, run=WHO)
    assert report.total.refused == report.total.unmatched == 0
    runs = {(run.shots, run.split): run for run in Run.objects.complete()}
    assert set(runs) == {(0, None), (3, 1), (3, 2)}
    right = {f"test {n}": ["bad" if n == 1 else "good"] for n in range(4)}
    assert every(answers(run) == right and run.coverage == 1 for run in runs.values())


def test_refuses_an_option_that_contradicts_the_prompt(tmp_path: Path) -> None:
    benchmark_of_splits()
    path = harness(exported(shots=[3], split=[1]), tmp_path)
    sentence = "the prompt was made for shots 3, but --shots says 0: leave the option out"
    with pytest.raises(CommandError, match=sentence):
        call_command("import_runs", path, system="Toy", shots="0", stdout=StringIO())
    call_command("import_runs", path, system="Toy", shots="3", split="1", stdout=StringIO())
    run = Run.objects.get()
    assert (run.shots, run.split) == (3, 1)
    assert run.report["prompts"]["seed"] == 0
    assert len(run.report["prompts"]["shown"]) == 3


def test_what_cannot_be_read_is_kept_and_counted(tmp_path: Path) -> None:
    benchmark = benchmark_of_splits()
    lines = [{**line, "id": line["id"]} for line in exported(shots=[0])]
    path = harness(lines, tmp_path)
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    rows[0]["filtered_resps"] = ["It could be either."]
    [stored] = imported(written(path, rows), benchmark, run=WHO).runs
    assert answers(stored.run)["test 0"] == ["It could be either."]
    assert stored.run.report["outside"] == 1
    assert stored.run.report["form_examples"] == [
        {"id": "test 0", "answer": ["It could be either."], "breach": "outside"}
    ]
    assert "1 of 4 answers are not among the choices (bad, good)" in stored.notes


def test_reads_the_reply_of_an_entity(tmp_path: Path) -> None:
    task = make.task(slug="mood", kind=Kind.CANDIDATE, training=0, tests=2)
    path = harness(exported(), tmp_path)
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    for row, said in zip(rows, ["**Boris**.", "Answer: Anna"], strict=True):
        row["filtered_resps"] = [said]
    [stored] = imported(written(path, rows), task.benchmark, run=WHO).runs
    assert answers(stored.run) == {"test 0": ["Boris"], "test 1": ["Anna"]}


@pytest.mark.parametrize(
    "fields",
    [
        {"shots": 0, "split": None},
        {"shots": 10, "split": 1},
        {"shots": None, "split": None},
        {"shots": 5, "episode": 7},
    ],
)
@pytest.mark.parametrize("example", ["883_1", "a:b/c", "two words", "ü"])
def test_an_id_says_what_was_put_in(fields: Line, example: str) -> None:
    text = prompt_id({"benchmark": "clues", "task": "sst2", **fields}, example)
    said = of_prompt_id(text)
    assert said is not None
    assert (said.run.benchmark, said.run.task, said.example) == ("clues", "sst2", example)
    for name in ("shots", "split", "episode"):
        assert getattr(said.run, name) == fields.get(name)


def test_stores_of_a_prompt_only_what_an_export_writes() -> None:
    doc = {"id": "toy:mood:shots0:1", "seed": "x", "format": "a\0", "shown": [1], "study": "s"}
    said = prompted(doc)
    assert said is not None
    assert said.how == {"study": "s"}


@pytest.mark.parametrize(
    "doc",
    [
        {"id": 3, "task": "mood", "shots": "some"},
        {"id": 3, "task": "mood", "split": "test"},
        {"id": "883_1"},
        {"id": "a:b:c"},
        "text",
    ],
)
def test_takes_no_other_document_for_a_prompt(doc: object) -> None:
    assert prompted(doc) is None
