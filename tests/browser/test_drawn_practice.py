"""Practice that was drawn out of a table of labels, as people do it: with buttons."""

from pathlib import Path

import pytest

from annotation.benchmarks.formats.drawing import Draw
from annotation.benchmarks.importing import import_benchmark
from annotation.models import Batch, Task
from annotation.studies.lifecycle import start_study
from tests import make
from tests.batching import make_batches
from tests.browser.batches import is_done_right, works_through
from tests.browser.person import MOUSE, Person

pytestmark = pytest.mark.django_db(transaction=True)

FILMS = "text,label\n" + "".join(
    f"Film {n} was {'bad' if n % 2 else 'good'}.,{'negative' if n % 2 else 'positive'}\n"
    for n in range(12)
)
FACES = "\n".join(
    f'{{"text": "Face {n}", "answer": {answer}}}'
    for n, answer in enumerate(['["joy"]', '["fear", "joy"]', '["fear"]'] * 4)
)


@pytest.mark.parametrize(
    ("name", "text", "about"),
    [("films.csv", FILMS, "{}"), ("faces.jsonl", FACES, '{"kind": "labels"}')],
    ids=["choice", "labels"],
)
def test_is_answered(person: Person, tmp_path: Path, name: str, text: str, about: str) -> None:
    (tmp_path / name).write_text(text)
    (tmp_path / "task.json").write_text(about)
    import_benchmark(tmp_path, name="drawn", draw=Draw([4], splits=1, seed=7, test=3))
    task = Task.objects.get(benchmark__name="drawn")
    task.description = "Say what fits."
    task.save()
    study = make.study(task.benchmark)
    make_batches(study, tasks=[task], shots=[4], chains=[1], wanted=1)
    start_study(study, at=make.NOON)
    batch = Batch.objects.get(study=study)
    works_through(person, batch, [MOUSE])
    is_done_right(person, batch)
