"""Whole batches of the demonstration's tasks and of CLUES's, from the link to the code.

Every batch has the training set as published, but only the first examples of the test set, since
hundreds would show nothing more."""

from pathlib import Path

import pytest
from django.conf import settings

from annotation.benchmarks.importing import import_benchmark
from annotation.models import Batch, Benchmark, Judgement, Outcome, Role, Task
from annotation.studies.lifecycle import start_study
from tests import make
from tests.browser.batches import works_through
from tests.browser.conftest import LAPTOP, PHONE, Comes
from tests.browser.person import KEYBOARD, MOUSE, TOUCH

pytestmark = pytest.mark.django_db(transaction=True)

TESTS = 6
DEMO = settings.BASE_DIR / "annotation" / "simulation" / "demo" / "benchmark"
SHOTS = pytest.mark.parametrize("shots", [10, 0], ids=["10-shot", "zero-shot"])


def batch_of(folder: Path, slug: str, shots: int) -> Batch:
    import_benchmark(folder, name="benchmark", tasks={slug})
    task = Task.objects.get(slug=slug)
    whole = task.item_sets.get(name="test")
    examples = [item.example for item in whole.items.order_by("position")[:TESTS]]
    short = make.item_set(task, examples, name="test-short", role=Role.TEST)
    short.choices = whole.choices
    short.save()
    study = make.study(Benchmark.objects.get(), lease_minutes=60)
    training = task.item_sets.get(shots=shots, split=1) if shots else None
    batch = Batch.objects.create(study=study, task=task, training_set=training, test_set=short)
    start_study(study, at=make.NOON)
    batch.refresh_from_db()
    return batch


@SHOTS
@pytest.mark.parametrize("slug", ["reviews", "newsroom", "reading", "cloze"])
def test_leads_through_a_whole_batch(somebody: Comes, slug: str, shots: int) -> None:
    leads_to_the_code(batch_of(DEMO, slug, shots), somebody)


@SHOTS
@pytest.mark.parametrize("slug", ["sst2", "conll03", "squadv2", "record"])
def test_leads_through_a_whole_batch_of_clues(
    clues: Path, somebody: Comes, slug: str, shots: int
) -> None:
    leads_to_the_code(batch_of(clues, slug, shots), somebody)


def leads_to_the_code(batch: Batch, somebody: Comes) -> None:
    shots = batch.shots
    person = somebody(LAPTOP) if shots else somebody(PHONE, touch=True)
    works_through(person, batch, [MOUSE, KEYBOARD] if shots else [TOUCH], leaves=KEYBOARD)
    assert "CODE-COMPLETED" in person.page.locator("main").inner_text()
    assignment = batch.assignments.get()
    trained = batch.training_set.items.count() if batch.training_set else 0
    assert assignment.outcome == Outcome.COMPLETED
    assert assignment.training_score == (100 if shots else None)
    assert Judgement.objects.of_training().count() == trained
    assert Judgement.objects.count() == trained + TESTS
    assert person.problems == []
