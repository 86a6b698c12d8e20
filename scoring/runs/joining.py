"""Which example of a test set a record is about: by its id, or by the texts it holds."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from django.db.models import Count

from annotation.kinds.base import AskedExample, asked
from annotation.models import Benchmark, Item, ItemSet, Role
from annotation.models.errors import BadInput
from scoring.runs.formats.records import RunFields


class NoMatch(BadInput):
    fate = "unmatched"


@dataclass(frozen=True)
class _Texts:
    example_id: int
    segments: tuple[str, ...]
    question: str

    @property
    def context(self) -> str:
        return " ".join(self.segments)


class ItemFinder:
    def __init__(self, item_set: ItemSet) -> None:
        self.item_set = item_set
        rows = Item.objects.filter(item_set=item_set).order_by("position")
        self.by_id = dict(rows.values_list("source_id", "example_id"))
        self._in_order = tuple(self.by_id.values())
        # Among equal examples, which one a record's id was assigned to.
        self._assigned: dict[int, dict[object, int]] = defaultdict(dict)

    def __len__(self) -> int:
        return len(self._in_order)

    def at(self, place: int) -> int:
        """The item at a place, from 0. Raises NoMatch if there is none."""
        if place >= len(self._in_order):
            raise NoMatch("the test set has fewer items")
        return self._in_order[place]

    def find(
        self, source_id: str | None, texts: Sequence[str] = (), options: Sequence[str] = ()
    ) -> int:
        """The example's key. Raises NoMatch with the reason.

        An id alone is believed. If there are texts, they decide, since a harness's own running ids
        mean something else; the id helps where the texts are ambiguous, and of items that only
        their options tell apart, those that the record lists.
        """
        strings = {normal(text) for text in texts} - {""}
        known = self.by_id.get(source_id or "")
        if not strings:
            if known is None:
                raise NoMatch("the test set does not have this id")
            return known
        candidates = self._with_context_equal(strings) or self._with_context_inside(strings)
        if len(candidates) > 1:
            candidates = self._with_options(candidates, options)
        if candidates and known not in candidates:
            return self._in_turn(candidates, source_id)
        if known is not None:
            segments = self._texts[known].segments
            if all(any(part in string for string in strings) for part in segments):
                return known
        raise NoMatch("no example of the test set has its context and question")

    @cached_property
    def asked(self) -> dict[int, AskedExample]:
        """What an answer to each could be chosen from."""
        items = Item.objects.filter(item_set=self.item_set).select_related("example")
        choices = self.item_set.choices
        return {item.example_id: asked(item.example, choices) for item in items.iterator()}

    @cached_property
    def _texts(self) -> dict[int, _Texts]:
        rows = Item.objects.filter(item_set=self.item_set).values_list(
            "example_id", "example__context", "example__question"
        )
        return {pk: _Texts(pk, tuple(map(normal, c)), normal(q)) for pk, c, q in rows}

    @cached_property
    def _by_context(self) -> dict[str, list[_Texts]]:
        """The texts by the whole context, and by its first segment if it has several."""
        texts: dict[str, list[_Texts]] = defaultdict(list)
        for text in self._texts.values():
            for key in {text.context, text.segments[0] if text.segments else ""}:
                texts[key].append(text)
        return texts

    def _in_turn(self, equal: Sequence[int], source_id: str | None) -> int:
        """One of several equal examples: records with another id, or none, get them one by one."""
        assigned = self._assigned[equal[0]]
        key = source_id if source_id is not None else len(assigned)
        return assigned.setdefault(key, equal[len(assigned) % len(equal)])

    def _with_options(self, candidates: Sequence[int], options: Sequence[str]) -> list[int]:
        """Raises NoMatch where they differ in their options, and nothing says which are meant."""
        texts_of = {pk: sorted(map(normal, self.asked[pk].options)) for pk in candidates}
        if len({str(texts) for texts in texts_of.values()}) == 1:
            return list(candidates)
        same = [pk for pk in candidates if texts_of[pk] == sorted(map(normal, options))]
        if not same:
            raise NoMatch("several items have its text, and none of them its options")
        return same

    def _with_context_equal(self, strings: Collection[str]) -> list[int]:
        """One of the strings is the context; the longest counts, since a document's label may
        be a context too, and the question decides between several."""
        matching = {
            text.example_id: text
            for string in strings
            for text in self._by_context.get(string, ())
            if text.context in strings or all(part in strings for part in text.segments)
        }
        longest = max((len(text.context) for text in matching.values()), default=0)
        candidates = [text for text in matching.values() if len(text.context) == longest]
        if len(candidates) > 1:
            return _asked_last(candidates, strings)
        return [candidate.example_id for candidate in candidates]

    def _with_context_inside(self, strings: Collection[str]) -> list[int]:
        """A prompt holds context and question. Demonstrations come before the question, so the
        context that ends last counts, and among those that end together the longest."""
        questions = {text.question for text in self._texts.values()}
        prompts = [{q: _without(string, q) for q in questions} for string in strings]
        best: tuple[int, int] = (-1, 0)
        candidates: list[_Texts] = []
        for text in self._texts.values():
            end = max(_ends_at(text, prompt[text.question]) for prompt in prompts)
            if end > best:
                best, candidates = end, [text]
            elif end == best and candidates:
                candidates.append(text)
        return _asked_last(candidates, strings)


def normal(text: str) -> str:
    """White space is ignored when texts are compared."""
    return " ".join(text.split())


def _without(string: str, question: str) -> str:
    """The string with the last occurrence of the question blanked, for a context may be a word of
    the question; empty if the question is not in it."""
    if not question:
        return string
    before, asked, after = string.rpartition(question)
    return before + " " * len(question) + after if asked else ""


def _ends_at(text: _Texts, prompt: str) -> tuple[int, int]:
    """Where the context ends in the prompt, and its length; (-1, 0) if not all is there."""
    if not prompt or any(part not in prompt for part in text.segments):
        return (-1, 0)
    return max(prompt.rfind(part) + len(part) for part in text.segments), len(text.context)


def _asked_last(candidates: Collection[_Texts], strings: Collection[str]) -> list[int]:
    """Those whose question is asked last; none if they differ, since that would be a guess."""
    asked: dict[tuple[int, int], list[_Texts]] = defaultdict(list)
    for candidate in candidates:
        if starts := [s.rfind(candidate.question) for s in strings if candidate.question in s]:
            asked[max(starts) + len(candidate.question), len(candidate.question)].append(candidate)
    last = asked[max(asked)] if asked else []
    is_guess = len({(candidate.segments, candidate.question) for candidate in last}) > 1
    return [] if is_guess else sorted(candidate.example_id for candidate in last)


class EpisodeIndex:
    def __init__(self, benchmark: Benchmark, task: str) -> None:
        sets = ItemSet.objects.filter(task__benchmark=benchmark, episode__isnull=False)
        sets = sets.filter(task__slug=task) if task else sets
        training = sets.filter(role=Role.TRAINING).annotate(size=Count("items"))
        shots = {(each.task_id, each.episode): each.size for each in training}
        self._fields = {
            each.pk: RunFields(
                task=each.task.slug,
                episode=each.episode,
                shots=shots.get((each.task_id, each.episode), 0),
            )
            for each in sets.filter(role=Role.TEST).select_related("task")
        }
        items = Item.objects.filter(item_set_id__in=list(self._fields))
        # None for an id that several episodes use.
        self._set_of: dict[str, int | None] = {}
        for source_id, item_set in items.values_list("source_id", "item_set_id").iterator():
            if self._set_of.setdefault(source_id, item_set) != item_set:
                self._set_of[source_id] = None

    def place(self, run: RunFields, question_id: str) -> RunFields:
        """The run with its task, its episode and (unless said) its shots. Raises NoMatch."""
        if question_id not in self._set_of:
            raise NoMatch("no episode asks this question")
        item_set = self._set_of[question_id]
        if item_set is None:
            raise NoMatch("several episodes ask a question with this id: give one with --task")
        of_set = self._fields[item_set]
        shots = of_set.shots if run.shots is None else run.shots
        return replace(run, task=of_set.task, episode=of_set.episode, shots=shots)
