"""Which example of a test set a record is about: by its id, or by the texts it holds."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

from annotation.models import Item, ItemSet


class NoMatch(Exception):
    """The record matches none of the examples, or is ambiguous."""


@dataclass(frozen=True)
class _Texts:
    example_id: int
    segments: tuple[str, ...]
    question: str

    @property
    def context(self) -> str:
        return " ".join(self.segments)


class ItemFinder:
    """The examples of one test set, for look-up."""

    def __init__(self, item_set: ItemSet) -> None:
        self.item_set = item_set
        rows = Item.objects.filter(item_set=item_set).values_list("source_id", "example_id")
        self.by_id = {str(source_id): example_id for source_id, example_id in rows}
        self.example_ids = frozenset(self.by_id.values())
        # Among equal examples, which one a record's id was assigned to.
        self._given: dict[int, dict[object, int]] = defaultdict(dict)

    def __len__(self) -> int:
        return len(self.example_ids)

    def find(self, source_id: str | None, texts: Sequence[str] = ()) -> int:
        """The example's key. Raises NoMatch with the reason.

        An id alone is believed. If there are texts, they decide, since a harness's own running ids
        mean something else; the id helps where the texts are ambiguous.
        """
        strings = {normal(text) for text in texts} - {""}
        known = self.by_id.get(source_id or "")
        if not strings:
            return self._believed(known)
        found = self._with_context_equal(strings) or self._with_context_inside(strings)
        if found and known not in found:
            return self._in_turn(found, source_id)
        if known is not None and self._holds_context(strings, known):
            return known
        raise NoMatch("no example of the test set has its context and question")

    @cached_property
    def _texts(self) -> dict[int, _Texts]:
        rows = Item.objects.filter(item_set=self.item_set).values_list(
            "example_id", "example__context", "example__question"
        )
        return {pk: _Texts(pk, tuple(map(normal, c)), normal(q)) for pk, c, q in rows}

    @cached_property
    def _by_context(self) -> dict[str, list[_Texts]]:
        """By the whole context, and by its first segment if it has several."""
        found: dict[str, list[_Texts]] = defaultdict(list)
        for text in self._texts.values():
            for key in {text.context, text.segments[0] if text.segments else ""}:
                found[key].append(text)
        return found

    @staticmethod
    def _believed(known: int | None) -> int:
        if known is None:
            raise NoMatch("the test set does not have this id")
        return known

    def _holds_context(self, strings: Collection[str], example_id: int) -> bool:
        segments = self._texts[example_id].segments
        return all(any(part in string for string in strings) for part in segments)

    def _in_turn(self, equal: Sequence[int], source_id: str | None) -> int:
        """One of several equal examples: records with another id, or none, get them one by one."""
        given = self._given[equal[0]]
        key = source_id if source_id is not None else len(given)
        return given.setdefault(key, equal[len(given) % len(equal)])

    def _with_context_equal(self, strings: Collection[str]) -> list[int]:
        """One of the strings is the context; the longest counts, since a document's label may
        be a context too, and the question decides between several."""
        found = {
            each.example_id: each
            for string in strings
            for each in self._by_context.get(string, ())
            if each.context in strings or all(part in strings for part in each.segments)
        }
        longest = max((len(each.context) for each in found.values()), default=0)
        candidates = [each for each in found.values() if len(each.context) == longest]
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
            place = max(_place(text, prompt[text.question]) for prompt in prompts)
            if place > best:
                best, candidates = place, [text]
            elif place == best and candidates:
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


def _place(each: _Texts, prompt: str) -> tuple[int, int]:
    """Where the context ends in the prompt, and its length; (-1, 0) if not all is there."""
    if not prompt or any(part not in prompt for part in each.segments):
        return (-1, 0)
    return max(prompt.rfind(part) + len(part) for part in each.segments), len(each.context)


def _asked_last(candidates: Collection[_Texts], strings: Collection[str]) -> list[int]:
    """Those whose question is asked last; none if they differ, since that would be a guess."""
    asked: dict[tuple[int, int], list[_Texts]] = defaultdict(list)
    for candidate in candidates:
        if places := [s.rfind(candidate.question) for s in strings if candidate.question in s]:
            asked[max(places) + len(candidate.question), len(candidate.question)].append(candidate)
    last = asked[max(asked)] if asked else []
    is_guess = len({(each.segments, each.question) for each in last}) > 1
    return [] if is_guess else sorted(each.example_id for each in last)
