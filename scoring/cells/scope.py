"""What is compared: a study or all of a benchmark, under a reader's choices; the fingerprint of
everything in it, and how much of it is still to be scored."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet

from annotation import models
from annotation.jobs.files import FileOrder
from annotation.models.benchmark import names_of
from annotation.models.errors import Refusal
from annotation.models.texts import checksum
from annotation.people.signs import of_programs
from annotation.people.summaries import refresh
from annotation.studies.ending import last_pages
from scoring.core.bootstrap import SEED
from scoring.core.intervals import ESTIMANDS, SHOT_SETS
from scoring.core.s1 import SCORER_VERSION
from scoring.models import FEW, FULLY_SUPERVISED, ReportedScore, Run, ScoreVector
from scoring.tables.words import with_stop

RUNS = ("matched", "all")
NOT_CLOSED = "not closed"


@dataclass(frozen=True)
class Choices:
    # None: each task's own policy.
    references: str | None = None
    estimand: str = "new_items"
    # Whether people's intervals are for these shot sets, or for new ones as well.
    shot_sets: str = "these"
    # Numbers of shots as files write them; empty: all.
    shots: tuple[str, ...] = ()
    simulated: bool = False
    with_excluded: bool = False
    # Without the people whose answers show signs that they are not their own.
    without_signs: bool = False
    # Of a study: systems on its people's items and shot sets, or on all that they ran on.
    runs: str = "matched"
    # Only the items of one group, such as "error_type=OK"; and rows for every group of this name.
    items: str = ""
    by: str = ""
    # Score at this version of each task's gold, or its latest where it has fewer; None: the latest.
    gold_version: int | None = None
    seed: int = SEED

    def __post_init__(self) -> None:
        if self.references not in (None, *models.ReferencePolicy.values):
            raise ValueError(f"The reference policy is {self.references!r}; it is set or any.")
        if self.estimand not in ESTIMANDS:
            raise ValueError(f"The estimand is {self.estimand!r}; it is one of {ESTIMANDS}.")
        if self.shot_sets not in SHOT_SETS:
            raise ValueError(f"The shot sets are {self.shot_sets!r}; they are one of {SHOT_SETS}.")
        if self.runs not in RUNS:
            raise ValueError(f"The runs are {self.runs!r}; they are one of {RUNS}.")
        words = (FEW, FULLY_SUPERVISED)
        unknown = [shots for shots in self.shots if not (shots in words or shots.isdecimal())]
        if unknown:
            raise ValueError(f"Shots are numbers, few or all, not {unknown[0]!r}.")
        if self.items and "=" not in self.items:
            raise ValueError("Items are chosen as NAME=VALUE, such as error_type=OK.")
        if self.gold_version is not None and self.gold_version < 1:
            raise ValueError("Gold versions count from 1.")

    @property
    def are_own(self) -> bool:
        """Whether gold, references and people are as a study freezes them."""
        people = self.with_excluded, self.without_signs
        return not any((self.references, self.gold_version, self.items, *people))

    def wants(self, shots: int | str | None) -> bool:
        return not self.shots or str(shots) in self.shots


class TaskScoring:
    """How a reader's choices score each task: under which policy, at which version of its gold."""

    def __init__(self, choices: Choices) -> None:
        self.choices = choices
        self._versions: dict[int, int] = {}
        self._only: dict[int, frozenset[int]] = {}

    def policy(self, task: models.Task) -> str:
        return self.choices.references or task.reference_policy

    def gold_version(self, task: models.Task) -> int:
        if task.pk not in self._versions:
            self.read_gold_versions([task])
        return self._versions[task.pk]

    def only(self, task: models.Task) -> frozenset[int] | None:
        """The examples of the group that was chosen, without regard to case; None for all."""
        if not self.choices.items:
            return None
        if task.pk not in self._only:
            name, _, value = self.choices.items.partition("=")
            groups = task.examples.exclude(groups={}).values_list("pk", "groups")
            self._only[task.pk] = frozenset(
                pk for pk, labels in groups if labels.get(name, "").casefold() == value.casefold()
            )
        return self._only[task.pk]

    def scored_under(self, task: models.Task) -> dict[str, Any]:
        return {
            "references": self.policy(task),
            "normalisation": task.normalisation,
            "gold_version": self.gold_version(task),
        }

    def read_gold_versions(self, tasks: Iterable[models.Task]) -> None:
        """Read the gold versions of many tasks at once."""
        versions = models.GoldVersion.objects.filter(task__in=tasks).order_by()
        for pk, latest in versions.values_list("task_id").annotate(Max("number")):
            self._versions[pk] = min(latest, self.choices.gold_version or latest)


@dataclass(frozen=True)
class Scope:
    benchmark: models.Benchmark
    study: models.Study | None = None

    @property
    def name(self) -> str:
        return self.study.slug if self.study else self.benchmark.name

    @property
    def title(self) -> str:
        return self.study.title if self.study else str(self.benchmark)

    @property
    def columns(self) -> dict[str, Any]:
        """How a kept comparison names it."""
        return {"study": self.study, "benchmark": None if self.study else self.benchmark}

    @cached_property
    def tasks(self) -> list[models.Task]:
        """A study is compared on its own tasks alone."""
        tasks = self.benchmark.tasks.all()
        return list(tasks.filter(batches__study=self.study).distinct() if self.study else tasks)

    @cached_property
    def task_names(self) -> dict[str, str]:
        return names_of(self.tasks)

    @cached_property
    def groups(self) -> dict[str, list[str]]:
        """The groups that test items belong to, by name, whatever their case: as first written."""
        spellings: dict[str, dict[str, str]] = defaultdict(dict)
        tests = models.Example.objects.filter(task__in=self.tasks, item_sets__role=models.Role.TEST)
        for groups in tests.exclude(groups={}).order_by("pk").values_list("groups", flat=True):
            for name, value in groups.items():
                spellings[name].setdefault(value.casefold(), value)
        return {name: sorted(values.values()) for name, values in sorted(spellings.items())}

    @property
    def titles(self) -> dict[str, str]:
        return {study.slug: study.title for study in self.studies}

    @cached_property
    def task_order(self) -> list[str]:
        """The tasks as all tabs show them: as the published figures go, then the others by name."""
        slugs = {task.slug for task in self.tasks}
        published = ReportedScore.objects.filter(benchmark=self.benchmark).order_by("pk")
        known = dict.fromkeys(published.values_list("task", flat=True))
        shown = [slug for slug in known if self.study is None or slug in slugs]
        return list(dict.fromkeys([*shown, *sorted(slugs)]))

    @property
    def latest_gold_version(self) -> int:
        """The latest gold version of the task that was corrected most often."""
        return max((task.latest_gold_version().number for task in self.tasks), default=1)

    @cached_property
    def studies(self) -> list[models.Study]:
        if self.study:
            return [self.study]
        return list(self.benchmark.studies.order_by("created_at", "pk"))

    @property
    def interim(self) -> dict[str, str]:
        """Why more may come of studies (slugs) with answers: their figures may still change."""
        running = {study.pk: study for study in self.studies if not study.is_settled}
        answered = models.Assignment.objects.filter(study__in=running).completed().order_by()
        with_answers = set(answered.values_list("study", flat=True).distinct())
        return {
            study.slug: f"closed, but {why}" if (why := last_pages(study)) else NOT_CLOSED
            for pk, study in running.items()
            if pk in with_answers
        }


def told_interim(interim: Mapping[str, str], titles: Mapping[str, str]) -> str:
    """A sentence for each reason, with the titles of its studies, if they are told."""
    sentences = []
    for why in dict.fromkeys(interim.values()):
        named = ", ".join(titles[slug] for slug in interim if interim[slug] == why and titles)
        sentences.append(with_stop(f"Interim, {why}{named and f': {named}'}"))
    return " ".join(sentences)


def inputs_fingerprint(scope: Scope, choices: Choices) -> str:
    """Covers everything that figures under these choices are computed from. It is read whenever a
    comparison is viewed, so by checksums and rows that never change, not by answers and texts."""
    # Judgements are final, and complete once their assignment is finished; so are runs.
    counts = Q(training_ended_at__isnull=False) | Q(outcome=models.Outcome.COMPLETED)
    who = models.Assignment.objects.filter(counts, study__in=scope.studies).order_by("pk")
    runs = Run.objects.complete().filter(task__in=scope.tasks).order_by("pk")
    published = ReportedScore.objects.filter(benchmark=scope.benchmark).order_by("pk")
    closed = {study: str(study.closed_at) if study.is_settled else "" for study in scope.studies}
    return checksum(
        [
            asdict(choices),
            SCORER_VERSION,
            sorted(with_signs(scope.studies)) if choices.without_signs else [],
            list(who.values_list("pk", "outcome", "exclusion__pk")),
            [[study.slug, study.margin, study.named_systems, at] for study, at in closed.items()],
            [(run, str(at)) for run, at in runs.values_list("checksum", "completed_at")],
            list(published.values_list(*_published_columns())),
            _of_tasks(scope.tasks, TaskScoring(choices)),
        ]
    )


def with_signs(studies: Iterable[models.Study]) -> set[int]:
    """The assignments whose answers show signs that they are not the person's own, as of now."""
    for study in studies:
        refresh(study)
    people = models.Assignment.objects.in_places().filter(study__in=studies)
    signs = [*of_programs()]
    signed = models.WorkSummary.objects.filter(assignment__in=people, signs__has_any_keys=signs)
    return set(signed.values_list("pk", flat=True))


def unscored_answers(scope: Scope, choices: Choices) -> int:
    """Roughly how many answers of people and runs have no score yet under these choices."""
    scoring, unscored = TaskScoring(choices), 0
    for task in scope.tasks:
        scored = ScoreVector.objects.filter(
            references=scoring.policy(task),
            gold_version=scoring.gold_version(task),
            scorer_version=SCORER_VERSION,
        )
        people, runs = _owners(task, scope)
        people = people.filter(~Exists(scored.filter(assignment=OuterRef("pk"))))
        runs = runs.filter(~Exists(scored.filter(run=OuterRef("pk"))))
        unscored += _count(task, people, runs)
    return unscored


def people_in(scope: Scope) -> int:
    """Roughly how many people are compared."""
    return models.Assignment.objects.filter(study__in=scope.studies).count()


def answers_in(scope: Scope) -> int:
    """Roughly how many answers people and runs have given."""
    return sum(_count(task, *_owners(task, scope)) for task in scope.tasks)


def file_order(
    kind: str, scope: Scope, choices: Choices, **arguments: str | int | None
) -> FileOrder:
    """A file about what is compared, which a worker makes."""
    chosen = json.dumps(asdict(choices), sort_keys=True)
    return FileOrder(
        kind,
        scope.study or scope.benchmark,
        {"choices": chosen, **arguments},
        answers=answers_in(scope),
    )


def ordered(job: models.Job) -> tuple[Scope, Choices]:
    """What such a file is about. Raises Refusal if that was deleted meanwhile."""
    chosen = json.loads(job.arguments["choices"])
    choices = Choices(**{**chosen, "shots": tuple(chosen["shots"])})
    studies = models.Study.objects.select_related("benchmark")
    if study := studies.filter(pk=job.arguments.get("study")).first():
        return Scope(study.benchmark, study), choices
    if benchmark := models.Benchmark.objects.filter(pk=job.arguments.get("benchmark")).first():
        return Scope(benchmark), choices
    raise Refusal("What this file is about is no longer there.")


def _published_columns() -> list[str]:
    """What a published figure says: the same figure stored again is the same input."""
    columns = (field.attname for field in ReportedScore._meta.concrete_fields)
    return [name for name in columns if name not in ("id", "benchmark_id", "created_at")]


def _of_tasks(tasks: Sequence[models.Task], scoring: TaskScoring) -> list[Any]:
    scoring.read_gold_versions(tasks)
    versions = {task.pk: scoring.gold_version(task) for task in tasks}
    sets, golds = _sets_of(tasks), _gold_counts(versions)
    return [
        (
            task.slug,
            task.kind,
            task.max_spans,
            task.normalisation,
            scoring.policy(task),
            versions[task.pk],
            sets[task.pk],
            golds[task.pk],
        )
        for task in tasks
    ]


def _sets_of(tasks: Sequence[models.Task]) -> dict[int, list[Any]]:
    """The item sets by task; a set's checksum follows its examples."""
    sets: dict[int, list[Any]] = defaultdict(list)
    every = models.ItemSet.objects.filter(task__in=tasks).order_by("pk")
    for task, *about in every.values_list("task_id", "pk", "checksum", "choices"):
        sets[task].append(about)
    return sets


def _gold_counts(versions: Mapping[int, int]) -> dict[int, int]:
    """How many golds each task has up to a version: golds are never changed, only added."""
    golds: dict[int, int] = defaultdict(int)
    every = models.Gold.objects.filter(version__task__in=versions).order_by()
    by_version = every.values_list("version__task_id", "version__number").annotate(Count("pk"))
    for task, version, count in by_version:
        golds[task] += count if version <= versions[task] else 0
    return golds


def _owners(task: models.Task, scope: Scope) -> tuple[QuerySet[models.Assignment], QuerySet[Run]]:
    people = models.Assignment.objects.filter(study__in=scope.studies, batch__task=task)
    return people.completed(), Run.objects.complete().filter(task=task)


def _count(task: models.Task, people: QuerySet[models.Assignment], runs: QuerySet[Run]) -> int:
    """How many items their test sets have together."""
    sets = models.ItemSet.objects.filter(task=task, role=models.Role.TEST).order_by()
    sizes = dict(sets.values_list("pk").annotate(Count("items")))
    pairs = (
        *people.order_by().values_list("batch__test_set").annotate(Count("pk")),
        *runs.order_by().values_list("test_set").annotate(Count("pk")),
    )
    return sum(count * sizes[item_set] for item_set, count in pairs)
