"""Whole batches of the demonstration's tasks and of CLUES's, from the link to the code.

Of each set the first examples, since all would show nothing more. CLUES's people practise on ten;
the demonstration's, whose kinds of answers are the same, on half of them."""

from pathlib import Path

import pytest
from django.conf import settings

from annotation.benchmarks.importing import import_benchmark
from annotation.models import Batch, Benchmark, Judgement, Outcome, Role, Task
from annotation.studies.lifecycle import start_study
from tests import make
from tests.browser.batches import works_through
from tests.browser.conftest import LAPTOP, PHONE, Comes
from tests.browser.person import KEYBOARD, MOUSE, TOUCH, Person

pytestmark = pytest.mark.django_db(transaction=True)

TESTS = 6
DEMO = settings.BASE_DIR / "annotation" / "simulation" / "demo" / "benchmark"


def batch_of(folder: Path, slug: str, practice: int, tests: int = TESTS) -> Batch:
    import_benchmark(folder, name="benchmark", tasks={slug})
    task = Task.objects.get(slug=slug)
    whole = task.item_sets.get(name="test")
    examples = [item.example for item in whole.items.order_by("position")[:tests]]
    short = make.item_set(task, examples, name="test-short", role=Role.TEST)
    short.choices = whole.choices
    short.save()
    study = make.study(Benchmark.objects.get(), lease_minutes=60)
    training = task.item_sets.get(shots=10, split=1) if practice else None
    if training:
        training.items.filter(position__gte=practice).delete()
    batch = Batch.objects.create(study=study, task=task, training_set=training, test_set=short)
    start_study(study, at=make.NOON)
    batch.refresh_from_db()
    return batch


DEMONSTRATED = pytest.mark.parametrize("slug", ["reviews", "newsroom", "reading", "cloze"])


@DEMONSTRATED
def test_leads_through_a_whole_batch_with_training(somebody: Comes, slug: str) -> None:
    batch = batch_of(DEMO, slug, practice=5, tests=2)
    leads_to_the_code(batch, somebody(LAPTOP), [MOUSE, KEYBOARD])


@DEMONSTRATED
def test_leads_through_a_whole_batch_without_training(somebody: Comes, slug: str) -> None:
    leads_to_the_code(batch_of(DEMO, slug, practice=0), somebody(PHONE, touch=True), [TOUCH])


@pytest.mark.parametrize("slug", ["sst2", "conll03", "squadv2", "record"])
def test_leads_through_a_whole_batch_of_clues(clues: Path, somebody: Comes, slug: str) -> None:
    person = somebody(LAPTOP, has_touch=True)
    leads_to_the_code(batch_of(clues, slug, practice=10), person, [MOUSE, KEYBOARD, TOUCH])


def leads_to_the_code(batch: Batch, person: Person, ways: list[str]) -> None:
    works_through(person, batch, ways, leaves=KEYBOARD)
    assert "CODE-COMPLETED" in person.page.locator("main").inner_text()
    assignment = batch.assignments.get()
    trained = batch.training_set.items.count() if batch.training_set else 0
    assert assignment.outcome == Outcome.COMPLETED
    assert assignment.training_score == (100 if trained else None)
    assert Judgement.objects.of_training().count() == trained
    assert Judgement.objects.count() == trained + batch.test_set.items.count()
    assert person.problems == []
