"""Unknown fields of an imported record, and gold, never reach an annotator's page."""

import json
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from annotation.benchmarks.importing import import_benchmark
from annotation.models import Assignment, Example, Item, ItemSet, Kind, Task
from annotation.simulation import demo
from annotation.studies.lifecycle import start_study
from tests import make
from tests.batching import make_batches

pytestmark = pytest.mark.django_db

DEMO = Path(demo.__file__).parent / "benchmark"
# Of the demonstration; the last one is of typed answers, made from the pieces to be selected.
FOLDERS = {
    "Reviews": Kind.CHOICE,
    "Reading": Kind.SPANS,
    "Cloze": Kind.CANDIDATE,
    "Typed": Kind.TEXT,
    "Counted": Kind.NUMBER,
    "Tagged": Kind.LABELS,
}
CANARY = "CANARY-7f3a"


def _with_canaries(folder: Path) -> None:
    for path in folder.rglob("*.jsonl"):
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        for row in rows:
            row["secret_note"] = CANARY
            if path.parent.name == "Counted":
                row["answer"] = ["1,130"]
            row["plausible_answers"] = [{"text": CANARY, "answer_start": 0}]
        path.write_text("\n".join(json.dumps(row) for row in rows))


@pytest.fixture(params=FOLDERS)
def task(request: pytest.FixtureRequest, tmp_path: Path) -> Task:
    target = tmp_path / request.param
    target.mkdir()
    source = request.param if (DEMO / request.param).is_dir() else "Reading"
    for path in (DEMO / source).iterdir():
        (target / path.name).write_bytes(path.read_bytes())
    if source != request.param:
        fields = {"kind": FOLDERS[request.param], "description": "Type an answer."}
        (target / "task.json").write_text(json.dumps(fields))
    _with_canaries(tmp_path)
    import_benchmark(tmp_path, name="canaries", lax=True)
    task = Task.objects.get(benchmark__name="canaries")
    assert task.kind == FOLDERS[request.param]
    return task


def test_stores_no_unknown_field(task: Task) -> None:
    for model in (Example, Item, ItemSet, Task):
        assert CANARY not in str(list(model.objects.values()))


def test_shows_no_unknown_field(task: Task) -> None:
    study = make.study(task.benchmark)
    (batch,) = make_batches(study, tasks=[task], shots=[10], chains=[1], wanted=1)
    start_study(study, at=make.NOON)
    client = Client()
    pages = [client.get(reverse("annotation:join_batch", args=[batch.join_token]), follow=True)]
    pages += [client.post("/work/consent/", {"agree": "1"}, follow=True)]
    pages += [client.post("/work/begin/", follow=True)]
    assignment = Assignment.objects.get()
    while not assignment.is_finished:
        form = {"step": assignment.step, **make.TWO_ANSWERS[task.kind][0]}
        pages.append(client.post("/work/submit/", form, follow=True))
        pages.append(client.post("/work/next/", {"step": assignment.step}, follow=True))
        pages.append(client.post("/work/begin/", {"step": assignment.step + 1}, follow=True))
        assignment.refresh_from_db()
    assert len(pages) > 2 * batch.test_set.items.count()
    assert not any(CANARY.encode() in page.content for page in pages)
