"""What is asked: benchmarks, tasks, examples, their gold, and ordered sets of them."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.models import clock
from annotation.models.constraints import check, if_given, once
from annotation.models.errors import Refusal
from scoring.core.normalisation import TOLERANCE

# A batch copies its task's description when it starts; these fields it reads from the task.
HELD_FIELDS = {
    *("title", "kind", "max_spans", "normalisation", "language", "direction"),
    *("reference_policy", "exposure_key", "sample", "markup"),
}


# In the name of every set that is a part of another (studies/drafting.py): predictions are for
# the whole set.
PART = "-part-"
# Of those that share the set: how many contexts, how many people each, the seed, and the number.
LAID_OUT = re.compile(PART + r"(\d+)x(\d+)(?:-(\d+))?-(\d+)$")


class Kind(models.TextChoices):
    """The names of the kinds of answer; each is a module of annotation/kinds/."""

    CHOICE = "choice", "choice"
    SPANS = "spans", "spans"
    CANDIDATE = "candidate", "candidate"
    TEXT = "text", "text"
    NUMBER = "number", "number"
    LABELS = "labels", "labels"


class Role(models.TextChoices):
    TRAINING = "training", "training"
    TEST = "test", "test"


class ReferencePolicy(models.TextChoices):
    """How several alternatives of one gold count: as their union, or the best of them."""

    SET = "set", "set"
    ANY = "any", "any"


class Normalisation(models.TextChoices):
    """What is removed from answers and gold before they are compared: see scoring.core."""

    NONE = "none", "none"
    TYPED = "typed", "typed"
    SQUAD = "squad", "squad"
    NUMBER = "number", "number"


class Transfer(models.TextChoices):
    """What FLEX's protocols have a system transfer to: classes, domains or tasks that it has never
    seen; or nothing beyond its pretraining."""

    CLASS = "class", "class transfer"
    DOMAIN = "domain", "domain transfer"
    TASK = "task", "task transfer"
    PRETRAINING_ONLY = "pretraining-only", "pretraining only"


class Direction(models.TextChoices):
    LEFT_TO_RIGHT = "ltr", "left to right"
    RIGHT_TO_LEFT = "rtl", "right to left"


class Markup(models.TextChoices):
    """How a task's texts are shown: annotation/kinds/markup.py."""

    NONE = "none", "plain"
    MARKDOWN = "markdown", "Markdown, with mathematics between dollars"


class PublishedBenchmarks(models.Manager["Benchmark"]):
    def get_queryset(self) -> models.QuerySet["Benchmark"]:
        return super().get_queryset().filter(is_staged=False)


class Benchmark(models.Model):
    name = models.SlugField(max_length=80, unique=True)
    title = models.CharField(max_length=200, blank=True)
    source = models.TextField(
        blank=True, help_text="Where the data come from, and under which terms."
    )
    canary = models.CharField(
        max_length=300,
        blank=True,
        help_text="A line by which models' training data can leave the items out; it stands at the "
        "head of every file that holds them.",
    )
    keeps_texts = models.BooleanField(
        "no item’s text leaves",
        default=False,
        help_text="Downloads and bundles then leave out contexts, questions and options; prompts "
        "are not exported.",
    )
    created_at = clock.WrittenAtField(auto_now_add=True)
    # Holds what an import has not published yet: benchmarks/importing.py.
    is_staged = models.BooleanField("not published yet", default=False, editable=False)

    objects = PublishedBenchmarks()
    every: models.Manager["Benchmark"] = models.Manager()

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.title or self.name

    def headed(self, rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """The lines of a file with items: the canary is in the first one, so that readers of tables
        meet a column that is empty below."""
        for number, row in enumerate(rows):
            yield {"canary": self.canary, **row} if self.canary and number == 0 else row

    def check_texts_may_leave(self) -> None:
        if self.keeps_texts:
            raise Refusal(
                f"The benchmark {self.name} keeps its texts (“no item’s text leaves” on its page): "
                "export without them."
            )

    def has_episodes(self) -> bool:
        return ItemSet.objects.filter(task__benchmark=self, episode__isnull=False).exists()


class Task(models.Model):
    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="tasks")
    slug = models.SlugField("short name", max_length=80)
    name = models.CharField(
        max_length=80,
        blank=True,
        help_text="The task's name in papers, such as SST-2; annotators don't see it.",
    )
    title = models.CharField(
        max_length=200, blank=True, help_text="What annotators see above their work."
    )
    kind = models.CharField(max_length=10, choices=Kind.choices)
    description = models.TextField(
        blank=True, help_text="What an annotator reads before starting. Every study needs it."
    )
    # What it asks in a sentence, and an item to try before the consent: benchmarks/formats/samples.
    sample = models.JSONField(default=dict, blank=True, editable=False)
    max_spans = models.PositiveSmallIntegerField(
        "most pieces",
        null=True,
        blank=True,
        help_text="1 if at most one piece may be chosen, as in SQuAD.",
    )
    normalisation = models.CharField(
        max_length=30,
        default=Normalisation.NONE,
        help_text="How typed answers and gold are made alike before they are compared; a number’s "
        "tolerance stands behind it.",
    )
    markup = models.CharField(max_length=8, choices=Markup.choices, default=Markup.NONE)
    language = models.CharField(max_length=20, default="en")
    direction = models.CharField(
        max_length=3, choices=Direction.choices, default=Direction.LEFT_TO_RIGHT
    )
    reference_policy = models.CharField(
        max_length=3, choices=ReferencePolicy.choices, default=ReferencePolicy.ANY
    )
    transfer = models.CharField(
        "transfer protocol",
        max_length=20,
        choices=Transfer.choices,
        blank=True,
        help_text="FLEX's transfer protocol, if the task has one.",
    )
    # Follows the content, so that re-imports and episodes of one data set share it.
    exposure_key = models.CharField(max_length=64, db_index=True)
    audit = models.JSONField(default=list, blank=True)
    # How its sets were sampled, or by whom, with a checksum of them all: benchmarks/sampling.py.
    sampling = models.JSONField(default=dict, blank=True, editable=False)

    class Meta:
        ordering = ["benchmark", "slug"]
        constraints = [
            once("task_slug_in_benchmark", ["benchmark", "slug"]),
            check("task_kind_known", kind__in=Kind.values),
            check("task_markup_known", markup__in=Markup.values),
            check(
                "task_normalisation_known",
                Q(normalisation__in=Normalisation.values)
                | Q(normalisation__startswith=Normalisation.NUMBER + TOLERANCE),
            ),
            if_given("task_max_spans_positive", "max_spans", gte=1),
            check("task_has_exposure_key", ~Q(exposure_key="")),
        ]

    def __str__(self) -> str:
        return self.name or self.title or self.slug

    @property
    def heading(self) -> str:
        """What annotators see above their work."""
        return self.title or self.slug

    def latest_gold_version(self) -> "GoldVersion":
        return self.gold_versions.latest("number")


def cluster_of(context_hash: str, groups: Mapping[str, str], group: str) -> str:
    """What clusters an item in the statistics: its value of the group that a study declares, or its
    context where it has none."""
    value = groups.get(group)
    return f"{group}: {value}" if value else context_hash


class Example(models.Model):
    """One question about one context. Its gold is stored elsewhere, so that no page's query can
    fetch it by accident."""

    task = models.ForeignKey(Task, on_delete=models.PROTECT, related_name="examples")
    # "content:<hash>" for a training example, "id:<id>" for a test example.
    identity = models.CharField(max_length=300)
    content_hash = models.CharField(max_length=64, db_index=True)
    # Examples of one context are asked together, and form one cluster unless a group is declared.
    context_hash = models.CharField(max_length=64)
    context = models.JSONField(help_text="List of segments.")
    question = models.TextField()
    candidates = models.JSONField(
        default=list, blank=True, help_text="[segment, start, end] in code points, end exclusive."
    )
    options = models.JSONField(
        default=list, blank=True, help_text="Those of this example alone, in the file's order."
    )
    images = models.JSONField(
        default=list,
        blank=True,
        help_text="Beside the text, each with its checksum, size, and a text for those who cannot "
        "see it.",
    )
    groups = models.JSONField(
        default=dict, blank=True, help_text="Such as its subject; annotators are not shown them."
    )
    # The gold that the file proposes instead, as it is written: benchmarks/correcting.py.
    proposed = models.TextField(default="", blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [once("example_identity_in_task", ["task", "identity"])]

    def __str__(self) -> str:
        return self.identity


class Image(models.Model):
    task = models.ForeignKey(Task, on_delete=models.PROTECT, related_name="images")
    # Of the benchmark's own file.
    checksum = models.CharField(max_length=64, db_index=True)
    media_type = models.CharField(max_length=20)
    # The pixels alone, as people are shown them: benchmarks/formats/images.py.
    data = models.BinaryField()

    class Meta:
        constraints = [once("image_once_in_task", ["task", "checksum"])]

    def __str__(self) -> str:
        return f"image {self.checksum[:12]}"


class Formula(models.Model):
    """What an import made of a formula, so that another version of what makes it changes nothing
    that people are shown: kinds/markup.py."""

    checksum = models.CharField(max_length=64, primary_key=True)
    # Empty where it could not be read.
    mathml = models.TextField(blank=True)

    def __str__(self) -> str:
        return f"formula {self.checksum[:12]}"


class GoldVersion(models.Model):
    """One state of a task's gold. A correction adds a version, with who and why."""

    task = models.ForeignKey(Task, on_delete=models.PROTECT, related_name="gold_versions")
    number = models.PositiveIntegerField()
    reason = models.TextField()
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True
    )
    created_at = clock.WrittenAtField(auto_now_add=True)

    class Meta:
        ordering = ["task_id", "number"]
        constraints = [once("gold_version_number_in_task", ["task", "number"])]

    def __str__(self) -> str:
        return f"{self.task} v{self.number}"


class Gold(models.Model):
    """The reference answer of an example, from its version until a later one."""

    example = models.ForeignKey(Example, on_delete=models.PROTECT, related_name="golds")
    version = models.ForeignKey(GoldVersion, on_delete=models.PROTECT, related_name="golds")
    # A list of alternatives, each a list of {"text": …, "segment": …, "start": …}; segment
    # and start (code points) only where the file says them.
    alternatives = models.JSONField()
    explanation = models.TextField(blank=True)

    class Meta:
        constraints = [once("gold_once_in_version", ["example", "version"])]

    def __str__(self) -> str:
        return f"gold of {self.example_id}"

    def alternative_texts(self) -> list[list[str]]:
        return [[span["text"] for span in spans] for spans in self.alternatives]


class ItemSet(models.Model):
    task = models.ForeignKey(Task, on_delete=models.PROTECT, related_name="item_sets")
    name = models.SlugField(max_length=80, help_text="Such as train-10-1, test or episode-7-test.")
    role = models.CharField(max_length=8, choices=Role.choices)
    shots = models.PositiveIntegerField(null=True, blank=True)
    split = models.PositiveIntegerField(null=True, blank=True)
    episode = models.PositiveIntegerField(null=True, blank=True)
    choices = models.JSONField(
        "labels", default=list, blank=True, help_text="The labels that it offers."
    )
    source_file = models.CharField("file", max_length=300, blank=True)
    checksum = models.CharField(max_length=64)
    examples = models.ManyToManyField(Example, through="Item", related_name="item_sets")

    class Meta:
        ordering = ["task", "role", "shots", "split", "episode", "name"]
        constraints = [
            once("item_set_name_in_task", ["task", "name"]),
            check("item_set_role_known", role__in=Role.values),
        ]

    def __str__(self) -> str:
        return f"{self.task} {self.name}"


class Item(models.Model):
    """An example's position in an item set, with the id that the set's file gives it."""

    item_set = models.ForeignKey(ItemSet, on_delete=models.CASCADE, related_name="items")
    example = models.ForeignKey(Example, on_delete=models.PROTECT, related_name="items")
    position = models.PositiveIntegerField()
    source_id = models.CharField(max_length=200)

    class Meta:
        ordering = ["item_set_id", "position"]
        constraints = [
            once("item_position_once", ["item_set", "position"]),
            once("item_example_once", ["item_set", "example"]),
        ]

    def __str__(self) -> str:
        return f"{self.item_set_id}/{self.position}"


def names_of(tasks: Iterable[Task]) -> dict[str, str]:
    """The tasks' names for researchers, by slug: two tasks of one name keep theirs apart."""
    named = {task.slug: str(task) for task in tasks}
    counts = Counter(named.values())
    return {slug: f"{name} ({slug})" if counts[name] > 1 else name for slug, name in named.items()}
