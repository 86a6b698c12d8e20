"""How a study is laid out, as a report's templates read it: its tasks, their sets, shots and gold,
and who is let in."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property

from django.db.models import Count, Q

from annotation.benchmarks.audit import WARNING, gold_not_in_context
from annotation.benchmarks.material import Material
from annotation.benchmarks.storing import IMPORT_REASON
from annotation.kinds import answer_kind
from annotation.models import Batch, Gold, Item, ItemSet, Pool, Study, Task
from annotation.models.benchmark import LAID_OUT, PART, cluster_of, names_of
from annotation.studies.ending import not_as_named
from annotation.studies.screening import MOST_LET_IN, Screening, screenings_in, why_no_floor
from scoring.core.normalisation import NONE, TOLERANCE
from scoring.core.screening import ScreeningFigures
from scoring.report.words import day
from scoring.tables.words import counted, span

NORMALISED = {
    "typed": "without case, superfluous space and punctuation at the ends, in whatever form of "
    "apostrophes, quotes and dashes (normalisation typed)",
    "squad": "without case, punctuation, the articles a, an and the, and superfluous space, as the "
    "official script of SQuAD does (normalisation squad)",
    "number": "as numbers, whatever their thousands, currency or unit (normalisation number)",
}


class TaskFacts:
    """name: what the task is called in the text."""

    def __init__(self, task: Task, name: str, batches: Sequence[Batch]) -> None:
        self.task, self.name = task, name
        # Of the test sets together, a part of which holds items of the whole one.
        tests = {batch.test_set_id for batch in batches}
        items = Item.objects.filter(item_set__in=tests).order_by()
        self.items = items.values("example").distinct().count()
        self.has_options = items.exclude(example__options=[]).exists()
        # In how many clusters, where they are fewer.
        group = batches[0].study.cluster_group(task.slug)
        rows = items.values_list("example__context_hash", "example__groups")
        clusters = len({cluster_of(*row, group) for row in rows})
        called = f"clusters by “{group}”" if group else "contexts"
        self.clustered = f" in {clusters} {called}" if clusters < self.items else ""
        self.parts = list(_parts(name, batches))
        self.samples = list(_samples(task, name, batches))
        self.shots = sorted({batch.shots for batch in batches})
        self.splits = len({batch.split for batch in batches if batch.split is not None})
        # As annotators saw it; empty before the start.
        self.description = batches[0].description
        # What they were shown and screened by; None before the start.
        shown = {batch.gold_version.number for batch in batches if batch.gold_version}
        self.shown_gold = max(shown, default=None)
        # What of its gold annotators met.
        training = any(batch.training_set for batch in batches)
        checks = any(batch.check_set and batch.check_set.task_id == task.pk for batch in batches)
        screens = checks or any(map(_by_training, batches))
        met = [*["shown"] * training, *["screened by"] * screens]
        self.scored_gold = task.latest_gold_version().number
        since = min(shown, default=self.scored_gold)
        self.gold_since = since
        seen = [one for batch in batches for one in (batch.training_set, batch.check_set) if one]
        later = Gold.objects.filter(version__task=task, version__number__gt=since)
        # Where a correction is of the test alone, nothing that they met was corrected.
        self.met = met if later.filter(example__item_sets__in=seen).exists() else []
        corrected = Count(
            "golds", filter=Q(golds__example__items__item_set__in=tests), distinct=True
        )
        versions = task.gold_versions.annotate(items=corrected)
        self.corrections = list(versions.filter(number__gt=since))
        before = versions.filter(number__gt=1, number__lte=since, items__gt=0)
        self.corrected_before = list(before.exclude(reason=IMPORT_REASON))
        # What the audit of the data warns of.
        self.warnings = list(_warnings(task, batches))
        golds = Gold.objects.filter(example__items__item_set__in=tests)
        self.has_alternatives = golds.filter(alternatives__1__isnull=False).exists()
        self.answered = str(answer_kind(task.kind).in_words)


# Findings about shot sets.
OF_SHOTS = ("shots_do_not_nest", "shot_sets_without_chain")


def _warnings(task: Task, batches: Sequence[Batch]) -> Iterator[str]:
    """The warnings about what the study uses."""
    for finding in task.audit:
        if finding["severity"] != WARNING:
            continue
        if finding["code"] == "gold_not_in_context":
            sets = {batch.test_set for batch in batches} | {batch.training_set for batch in batches}
            used = Item.objects.filter(item_set__in=filter(None, sets))
            only = set(used.values_list("example", flat=True))
            if absent := gold_not_in_context(Material(task, only)):
                yield absent.message
        elif finding["code"] not in OF_SHOTS or len({b.shots for b in batches if b.shots}) > 1:
            yield finding["message"]


def _samples(task: Task, name: str, batches: Sequence[Batch]) -> Iterator[str]:
    """Such as “60 of 210 items of SST-2 (seed 0)”, of sets that are by name a part of another."""
    uses = Counter(batch.test_set for batch in batches)
    for test_set, count in uses.items():
        whole, _, drawn = test_set.name.rpartition(PART)
        items = Item.objects.filter(item_set__task=task, item_set__name=whole).count()
        if items and not LAID_OUT.search(test_set.name):
            seed = drawn.partition("-")[2] or "0"
            which = f", in {count} of {len(batches)} batches" if count < len(batches) else ""
            yield f"{test_set.items.count()} of {items} items of {name} (seed {seed}{which})"


def _parts(name: str, batches: Sequence[Batch]) -> Iterator[str]:
    """Such as “1,319 items of GSM8K in 99 parts of 39 to 40, each in 3 of them (seed 7)”."""
    layouts: dict[str, list[int]] = defaultdict(list)
    for batch in batches:
        if match := LAID_OUT.search(batch.test_set.name):
            layouts[match[3] or "0"].append(batch.test_set_id)
    for seed, sets in layouts.items():
        items = Item.objects.filter(item_set__in=sets).order_by()
        sizes, viewers = (
            list(items.values(by).annotate(n=Count("pk")).values_list("n", flat=True))
            for by in ("item_set", "example")
        )
        which = "" if len(sets) == len(batches) else f", in {len(sets)} of {len(batches)} batches"
        yield (
            f"{len(viewers):,} items of {name} in {len({*sets})} parts of {span(sizes)}, each in "
            f"{span(viewers)} of them (seed {seed}{which})"
        )


class Design:
    def __init__(self, study: Study) -> None:
        sets = ("training_set", "test_set", "check_set__task")
        about = ("study", "task", *sets, "gold_version", "pool")
        self._study = study
        day_named = f"on {day(study.ends_on)}, or " if study.ends_on else ""
        self.ends = f"{day_named}when all places are filled"
        self.was_to_end = self.ends.replace("are filled", "were filled")
        self.not_as_named = not_as_named(study)
        self.batches = batches = list(study.batches.select_related(*about))
        by_task: dict[Task, list[Batch]] = {}
        for batch in batches:
            by_task.setdefault(batch.task, []).append(batch)
        names = names_of(by_task)
        self.tasks = [TaskFacts(task, names[task.slug], some) for task, some in by_task.items()]
        self.samples = [sample for facts in self.tasks for sample in facts.samples]
        self.parts = [part for facts in self.tasks for part in facts.parts]
        self.wanted = sum(batch.wanted for batch in batches)
        # Numbers of training items, least to most; zero-shot is 0.
        trained = [batch.training_set for batch in batches]
        self.training_items = sorted(
            {learned.items.count() if learned else 0 for learned in trained}
        )
        checked = {batch.check_set for batch in batches if batch.check_set}
        self.checks = sorted({item_set.items.count() for item_set in checked})
        told = names_of({*by_task, *(item_set.task for item_set in checked)})
        self.checked_tasks = sorted({told[item_set.task.slug] for item_set in checked})
        # What those who answered checks of another task read before them.
        self.check_descriptions = {
            told[batch.check_set.task.slug]: (batch.check_set.task, batch.check_description)
            for batch in batches
            if batch.check_set and batch.check_set.task not in by_task and batch.check_description
        }
        # Numbers of test items of one assignment.
        self.test_items = sorted({batch.test_set.items.count() for batch in batches})
        self.shots = sorted({shots for facts in self.tasks for shots in facts.shots})
        # Shots where there are any.
        self.sizes = [shots for shots in self.shots if shots]
        self.learned = list(dict.fromkeys(_learned(item_set) for item_set in trained if item_set))
        # Whether a task has several cells, by its shots.
        self.has_changes = any(len(task.shots) > 1 for task in self.tasks)
        self.shares_contexts = any(task.clustered for task in self.tasks)
        self.has_options = any(task.has_options for task in self.tasks)
        self.names = [task.name for task in self.tasks]
        self.splits = sorted({task.splits for task in self.tasks if task.splits})
        self.items = sum(task.items for task in self.tasks)
        kinds = [task.kind for task in (*by_task, *(item_set.task for item_set in checked))]
        self.ways_to_answer = list(dict.fromkeys(str(answer_kind(k).in_words) for k in kinds))
        self.is_corrected = any(task.corrections for task in self.tasks)
        self.policies = sorted(
            {task.task.reference_policy for task in self.tasks if task.has_alternatives}
        )

    @property
    def least_check_scores(self) -> str:
        """The least scores of each batch's checks, in percent; empty where there is no floor."""
        checked = [batch for batch in self.batches if batch.check_set]
        floors = {b.least_check_score for b in checked if b.least_check_score is not None}
        return " or ".join(f"{floor:g} %" for floor in sorted(floors))

    @property
    def pools(self) -> list[str]:
        """Each with who is in it, and how many were wanted."""
        places = Counter[Pool]()
        for batch in self.batches:
            if batch.pool:
                places[batch.pool] += batch.wanted
        return [
            f"{pool}{f' ({pool.about})' if pool.about else ''}, {counted(n, 'place')}"
            for pool, n in places.items()
        ]

    @property
    def has_plain_links(self) -> bool:
        """Whether anybody comes by a link that names nobody."""
        channel = self._study.channel
        return not (channel.person_param or channel.invited_only)

    @property
    def channel(self) -> str:
        channel = self._study.channel
        # The ready-made channel of a link that anybody may have.
        return "an open link" if channel.slug == "link" else channel.name

    @property
    def averaged(self) -> list[int]:
        """The numbers of shots over which several tasks, and all of them, have an average."""
        return [
            shots
            for shots in self.shots
            if len(self.tasks) > 1 and all(shots in task.shots for task in self.tasks)
        ]

    @property
    def families(self) -> list[str]:
        """What is adjusted for together."""
        averages = ["averages over tasks"] if self.averaged else []
        changes = ["more shots against fewer"] * self.has_changes
        singles = "single tasks" if len(self.tasks) > 1 else "people minus system"
        return [*averages, singles, *changes]

    @property
    def primary(self) -> str:
        """Which family is; empty where there is one."""
        if self.averaged:
            return "the average is primary"
        verb = "are" if len(self.tasks) > 1 else "is"
        first, *rest = self.families
        return f"{first} {verb} primary" if rest else ""

    @cached_property
    def screened(self) -> set[bool]:
        """Says of the batches whether a rule can send somebody away before the test."""
        return {
            _by_training(batch) or bool(batch.check_set and batch.least_check_score is not None)
            for batch in self.batches
        }

    def population(self, who: str) -> str:
        """Whom the figures are about."""
        if self._study.known_people:
            return f"such {who} as these"
        if True not in self.screened:
            return "whoever comes in the same way"
        where_none = " (where there is none: whoever comes)" if False in self.screened else ""
        return f"{who} whom the screening lets in{where_none}"

    @property
    def normalised(self) -> Iterator[tuple[list[Task], str]]:
        tasks = [task.task for task in self.tasks]
        for how in dict.fromkeys(task.normalisation for task in tasks):
            name, _, tolerance = how.partition(TOLERANCE)
            if name != NONE:
                near = f"; a difference of {tolerance} is none" if tolerance else ""
                yield [task for task in tasks if task.normalisation == how], NORMALISED[name] + near

    @property
    def admitted(self) -> dict[str, str]:
        """How many of 100 guessers get in, and of 100 careful people how many do not, simulated."""
        return {
            "guessers": span([round(100 * figures.guessers_in) for figures in self._simulated]),
            "careful": span([round(100 * figures.careful_out) for figures in self._simulated]),
        }

    @property
    def lets_most_in(self) -> bool:
        """Whether a rule does, of people who guess."""
        return any(100 * figures.guessers_in > MOST_LET_IN for figures in self._simulated)

    @cached_property
    def screenings(self) -> dict[int, list[Screening]]:
        return screenings_in(self._study)

    @cached_property
    def _simulated(self) -> list[ScreeningFigures]:
        return [one.figures for batch in self.batches for one in self.screenings[batch.pk]]

    @property
    def without_floor(self) -> dict[str, list[str]]:
        names = {facts.task.pk: facts.name for facts in self.tasks}
        cells: dict[str, dict[str, None]] = defaultdict(dict)
        for batch in self.batches:
            if reason := why_no_floor(self.screenings[batch.pk]):
                cells[reason][f"{names[batch.task_id]} with {batch.condition}"] = None
        return {reason: list(names) for reason, names in cells.items()}


def _learned(training: ItemSet) -> str:
    """A shot is a context, with all questions about it."""
    items, contexts = training.items.count(), training.items.values("example__context_hash")
    shots = contexts.order_by().distinct().count()
    examples = f"{items} labelled examples"
    return f"{shots} contexts ({examples})" if shots < items else examples


def _by_training(batch: Batch) -> bool:
    has_rule = batch.study.min_training_score is not None or batch.study.max_drop is not None
    return has_rule and batch.training_set is not None
