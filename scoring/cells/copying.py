"""Whose wrong answers are a stored system's: a sign for the page of a study's people."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from functools import lru_cache
from itertools import compress

from annotation.models import Assignment, Study, Task
from annotation.models.texts import checksum
from scoring.cells.cells import CellReader
from scoring.cells.scope import Choices
from scoring.cells.vectors import Answers as Given
from scoring.cells.vectors import judged_answers, predicted_answers
from scoring.core.copying import LEVEL, Answers, shared_mistakes
from scoring.core.normalisation import normalised
from scoring.models import Run

# So many others tell what is usual.
MOST_OTHERS = 50


def state_of_runs(study: Study) -> str:
    """Other runs may be what somebody's answers are. With the answers that other people give later
    everybody is compared again once the study is closed."""
    runs = Run.objects.complete().filter(task__batches__study=study).order_by().distinct()
    return f"{checksum(sorted(runs.values_list('checksum', flat=True)))} {study.is_closed}"


def copied(study: Study, assignments: Collection[int]) -> dict[int, str]:
    """The evidence, by assignment, of those who finished."""
    asked = Assignment.objects.completed().of_people().filter(pk__in=assignments)
    by_task: dict[Task, list[int]] = defaultdict(list)
    for assignment in asked.select_related("batch__task"):
        by_task[assignment.batch.task].append(assignment.pk)
    state = state_of_runs(study) if by_task else ""
    return {
        pk: sentence
        for task, people in by_task.items()
        for pk, sentence in _copied_on(study, task, people, state).items()
    }


def _copied_on(study: Study, task: Task, people: list[int], state: str) -> dict[int, str]:
    mistakes = _mistakes(task.pk, task.latest_gold_version().number, state)
    if not mistakes:
        return {}
    everybody = Assignment.objects.completed().of_people().filter(study=study, batch__task=task)
    others = list(everybody.order_by("pk").values_list("pk", flat=True)[: MOST_OTHERS + 1])
    answers = judged_answers({*people, *others})
    texts = {pk: _compared(judged, task) for pk, judged in answers.items()}
    level = LEVEL / (len(mistakes) * len(others))
    evidence = {}
    for pk in people:
        beside = [texts[other] for other in others if other != pk]
        shared = {run: shared_mistakes(texts[pk], wrong, beside) for run, wrong in mistakes.items()}
        nearest = min(shared, key=lambda run: shared[run].p)
        most = shared[nearest]
        if most.is_beyond_chance and most.p <= level:
            evidence[pk] = (
                f"{most.shared} of {most.items} wrong answers of {nearest.system} "
                f"({nearest.label}); of the others' answers {100 * most.usual:.0f} % are the same"
            )
    return evidence


@lru_cache(maxsize=16)
def _mistakes(task_id: int, gold_version: int, state: str) -> Mapping[Run, Answers]:
    """The wrong answers of each run on a task; the same as long as the state of its runs is."""
    task = Task.objects.get(pk=task_id)
    cells = CellReader(Choices(gold_version=gold_version)).systems(task)
    vectors = {run: one for cell in cells for run, one in zip(cell.runs, cell.vectors, strict=True)}
    answers = predicted_answers([run.pk for run in vectors])
    mistakes = {}
    for run, vector in vectors.items():
        wrong = {*compress(vector.items.example_ids, vector.scores < 1)}
        predicted = _compared(answers[run.pk], task)
        mistakes[run] = {pk: texts for pk, texts in predicted.items() if pk in wrong}
    return mistakes


def _compared(answers: Given, task: Task) -> Answers:
    return {pk: frozenset(normalised(texts, task.normalisation)) for pk, texts in answers.items()}
