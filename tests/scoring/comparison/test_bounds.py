"""The floors and the ceiling that a table's figures are read against."""

from collections.abc import Iterable

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.benchmarks.audit import audit_task
from annotation.benchmarks.correcting import correct_gold
from annotation.models import Gold, Kind, Task
from annotation.studies.cutting import cut_test_set
from scoring.cells.cell_rows import bounds
from scoring.cells.rows import Bound, no_skill
from scoring.cells.scope import Choices, Scope
from scoring.comparison.comparing import compare
from tests import make
from tests.every import every
from tests.scoring.comparison import measured

pytestmark = pytest.mark.django_db


@pytest.fixture
def task() -> Task:
    """Of four questions, all of them answered by no piece of the text since version 2."""
    made = make.task(kind=Kind.SPANS, tests=4)
    answered = [e for e in _tested(made) if measured.gold(e)]
    assert answered
    correct_gold(made, {e.pk: [[]] for e in answered}, author=None, reason="Nothing is asked for.")
    return made


def _tested(task: Task) -> list:
    return [item.example for item in task.item_sets.get(name="test").items.order_by("position")]


def _empty(bounds: Iterable[Bound]) -> float:
    return next(bound.score for bound in bounds if bound.rule == "empty")


def test_follows_the_gold_version(task: Task) -> None:
    before = 100 * sum(not measured.gold(example) for example in _tested(task)) / 4
    assert before < 100
    assert _empty(bounds(task, "any", 1)) == pytest.approx(before)
    assert _empty(bounds(task, "any", 2)) == 100
    assert {bound.gold_version for bound in bounds(task, "any", 1)} == {1}


def test_stands_in_a_table_at_the_gold_version_of_its_rows(task: Task) -> None:
    scope = Scope(task.benchmark)
    assert _empty(compare(scope, Choices(gold_version=1)).bounds) < 100
    assert _empty(compare(scope).bounds) == 100
    assert {bound.gold_version for bound in compare(scope, Choices(gold_version=7)).bounds} == {2}


@pytest.mark.parametrize("contexts", [1, 3])
def test_count_an_example_once_whatever_part_of_the_test_set_a_study_asks(contexts: int) -> None:
    task = make.task(kind=Kind.SPANS, tests=7)
    before, audited = bounds(task, "any", 1), audit_task(task)
    cut_test_set(task.item_sets.get(name="test"), contexts)
    assert bounds(task, "any", 1) == before
    assert audit_task(task) == audited


def test_reads_the_test_rows_alone() -> None:
    task = make.task(kind=Kind.CHOICE, training=3, tests=4)
    with CaptureQueriesContext(connection) as queries:
        bounds(task, "any", 1)
    assert [_rows_of(query["sql"]) for query in queries.captured_queries] == [1, 4, 4]


def _rows_of(sql: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return len(cursor.fetchall())


@pytest.mark.parametrize("kind", [Kind.CHOICE, Kind.SPANS, Kind.CANDIDATE])
def test_names_every_rule_by_a_label(kind: Kind) -> None:
    found = bounds(make.task(kind=kind, tests=4), "any", 1)
    assert found[-1].label == "Ceiling"
    assert every(bound.label and bound.in_words for bound in found[:-1])


# Of each kind, the gold of four items, and what the best answer of its form earns that looks at
# none: one of two labels, both where both may be given, one text or number, the entity that is
# named first, nothing.
BAD, GOOD = make.LABELS
BY_HAND: dict[str, tuple[list[list[str]], float]] = {
    Kind.CHOICE: ([[BAD], [BAD], [GOOD], [GOOD]], 50),
    Kind.LABELS: ([[BAD, GOOD], [BAD, GOOD], [BAD, GOOD], []], 75),
    Kind.SPANS: ([[], [], ["Anna"], ["Anna", "Boris"]], 50),
    Kind.CANDIDATE: ([["Anna"], ["Boris"], ["Boris"], ["Boris"]], 25),
    Kind.TEXT: ([["Anna"], ["Anna"], ["Boris"], []], 50),
    Kind.NUMBER: ([["12"], ["12"], ["12"], ["7"]], 75),
}


@pytest.mark.parametrize("kind", Kind.values)
def test_no_skill_is_the_best_that_the_form_of_the_tasks_own_kind_takes(kind: str) -> None:
    task = make.task(kind=kind, tests=4)
    golds, best = BY_HAND[kind]
    corrected = dict(zip((example.pk for example in _tested(task)), golds, strict=True))
    for gold in Gold.objects.filter(example__in=corrected):
        gold.alternatives = [[{"text": text} for text in corrected[gold.example_id]]]
        gold.save()
    assert no_skill(bounds(task, "any", 1)) == {task.slug: pytest.approx(best)}


def test_rest_on_the_items_that_a_studys_people_answered() -> None:
    batch = measured.on_a_part(items=3, tests=7)
    asked = [item.example for item in batch.test_set.items.select_related("example")]
    golds = [measured.gold(example) for example in asked]
    best = max(golds.count(gold) for gold in golds)
    found = compare(Scope(batch.study.benchmark, batch.study)).bounds
    assert no_skill(list(found))[batch.task.slug] == pytest.approx(100 * best / 3)
    whole = compare(Scope(batch.study.benchmark)).bounds
    assert list(whole) == bounds(batch.task, "any", 1)
