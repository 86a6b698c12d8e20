"""Which episode asks a question, if a file gives only the question's id."""

from dataclasses import replace

from django.db.models import Count

from annotation.models import Benchmark, Item, ItemSet, Role
from scoring.runs.formats.records import RunFields
from scoring.runs.joining import NoMatch


class EpisodeIndex:
    def __init__(self, benchmark: Benchmark, task: str) -> None:
        self._fields = _fields_of_test_sets(benchmark, task)
        rows = Item.objects.filter(item_set_id__in=list(self._fields)).values_list(
            "source_id", "item_set_id"
        )
        # None for an id that several episodes use.
        self._set_of: dict[str, int | None] = {}
        for source_id, item_set in rows.iterator():
            known = self._set_of.setdefault(source_id, item_set)
            if known != item_set:
                self._set_of[source_id] = None

    def place(self, run: RunFields, question_id: str) -> RunFields:
        """The run with its task, its episode and (unless said) its shots. Raises NoMatch."""
        if question_id not in self._set_of:
            raise NoMatch("no episode asks this question")
        item_set = self._set_of[question_id]
        if item_set is None:
            raise NoMatch("several episodes ask a question with this id: give one task with --task")
        fields = self._fields[item_set]
        shots = fields.shots if run.shots is None else run.shots
        return replace(run, task=fields.task, episode=fields.episode, shots=shots)


def _fields_of_test_sets(benchmark: Benchmark, task: str) -> dict[int, RunFields]:
    sets = ItemSet.objects.filter(task__benchmark=benchmark, episode__isnull=False)
    if task:
        sets = sets.filter(task__slug=task)
    training = sets.filter(role=Role.TRAINING).annotate(examples_count=Count("items"))
    shots = {(item_set.task_id, item_set.episode): item_set.examples_count for item_set in training}
    return {
        set.pk: RunFields(
            task=set.task.slug,
            episode=set.episode,
            shots=shots.get((set.task_id, set.episode), 0),
        )
        for set in sets.filter(role=Role.TEST).select_related("task")
    }
