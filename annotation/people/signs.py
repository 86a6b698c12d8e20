"""Signs that answers are not a person's own: pasted, made elsewhere, made without reading, or a
system's; and one that says nothing of who answered, that the page was translated. They follow from
what the consent says is kept, exclude nobody by themselves, and each comes with its evidence. Apps
above this one register what they alone can find."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple

from annotation.models import Role, Study
from annotation.models.frozen import BatchContent, FrozenExample
from scoring.tables.words import counted

# Raise by hand when one of the rules below changes: everybody is looked at again.
VERSION = 1
# A reader cannot have taken in so much text in less: half a second to answer, and five thousandths
# for each character, which is three times a quick reader's pace; a long text may only be searched.
ANSWERING_S, CHARACTER_S, LONGEST_S = 0.5, 0.005, 5.0
# Below so many answers, half of them is chance.
ENOUGH_ANSWERS = 5
# Out of sight for longer than a slow connection takes; in a quarter of the answers, and so many.
AWAY_MS, AWAY_SHARE, AWAY_ANSWERS = 3_000, 0.25, 5
# Texts of which less than half was typed: how long they are at least, and how many there are.
TYPED_LENGTH, UNTYPED_ANSWERS = 10, 3

# Of the answers that a sentence names.
MOST_NUMBERS = 10

LABELS = {
    "decoy": "answered what only programs see",
    "paste": "pasted",
    "untyped": "text that was not typed",
    "away": "page often out of sight",
    "unread": "faster than reading",
}
TRANSLATED = "translated"


class Answer(NamedTuple):
    """What of a judgement tells, by its columns; the times in milliseconds."""

    role: str
    example: int
    texts: Sequence[str]
    elapsed_ms: int
    browser_ms: int | None
    pastes: int | None
    typed: int | None
    decoy: bool | None
    translated: bool | None


@dataclass(frozen=True)
class Finder:
    """What another app finds: `state` tells when its own inputs have changed, and `find` gives the
    evidence by assignment, of those that have any."""

    name: str
    label: str
    state: Callable[[Study], str]
    find: Callable[[Study, Collection[int]], dict[int, str]]


_FINDERS: dict[str, Finder] = {}


def register(finder: Finder) -> None:
    _FINDERS[finder.name] = finder


def of_programs() -> dict[str, str]:
    """The labels of all but the one that does not ask whose the answers are."""
    return LABELS | {finder.name: finder.label for finder in _FINDERS.values()}


def labels() -> dict[str, str]:
    return of_programs() | {TRANSLATED: "page translated"}


def state_of(study: Study) -> str:
    """What the signs of a study's people rest on, beside their own answers."""
    return " ".join([str(VERSION), *(finder.state(study) for finder in _FINDERS.values())])


def found_elsewhere(study: Study, assignments: Collection[int]) -> dict[int, dict[str, str]]:
    """The evidence of the registered finders, by assignment and sign."""
    evidence: dict[int, dict[str, str]] = {pk: {} for pk in assignments}
    for finder in _FINDERS.values():
        for pk, sentence in finder.find(study, assignments).items():
            evidence[pk][finder.name] = sentence
    return evidence


def signs_of(answers: Sequence[Answer], content: BatchContent) -> dict[str, str]:
    """The evidence by sign, of one assignment's answers in their order."""
    return dict(_signs_in(answers, content))


def _signs_in(answers: Sequence[Answer], content: BatchContent) -> Iterator[tuple[str, str]]:
    if decoys := [number for number, answer in enumerate(answers, start=1) if answer.decoy]:
        asked = sum(answer.decoy is not None for answer in answers)
        more = ["…"] if len(decoys) > MOST_NUMBERS else []
        where = ", ".join([*map(str, decoys[:MOST_NUMBERS]), *more])
        yield (
            "decoy",
            f"{len(decoys)} of {asked} times answered the question that no page shows (answers "
            f"{where})",
        )
    if pastes := sum(answer.pastes or 0 for answer in answers):
        yield "paste", f"pasted {counted(pastes, 'time')}"
    if untyped := _untyped(answers):
        yield "untyped", untyped
    away = [answer.elapsed_ms - answer.browser_ms for answer in answers if answer.browser_ms]
    gone = [ms for ms in away if ms >= AWAY_MS]
    if len(gone) >= max(AWAY_ANSWERS, AWAY_SHARE * len(away)):
        seconds = f"{median(gone) / 1000:.0f} s in the median"
        yield "away", f"page out of sight in {len(gone)} of {len(away)} answers, {seconds}"
    if unread := _unread(answers, content):
        yield "unread", unread
    known = [answer.translated for answer in answers if answer.translated is not None]
    if any(known):
        evidence = f"a browser or an extension translated the page in {sum(known)} of {len(known)}"
        yield TRANSLATED, f"{evidence} answers"


def _untyped(answers: Iterable[Answer]) -> str:
    lengths = [
        (len("".join(answer.texts)), answer.typed) for answer in answers if answer.typed is not None
    ]
    long = [(length, typed) for length, typed in lengths if length >= TYPED_LENGTH]
    untyped = [(length, typed) for length, typed in long if typed < length / 2]
    if len(untyped) < UNTYPED_ANSWERS:
        return ""
    length, typed = (sum(counts) for counts in zip(*untyped, strict=True))
    return f"{len(untyped)} of {len(long)} texts: {length} characters, of which {typed} were typed"


def _unread(answers: Sequence[Answer], content: BatchContent) -> str:
    """Look at the test alone, where nobody is shown anything but the items."""
    below: list[int] = []
    tested, before = 0, ""
    for answer in answers:
        example = content.by_pk[answer.example]
        if answer.role == Role.TEST:
            tested += 1
            if answer.elapsed_ms < 1000 * _reading_s(example, before):
                below.append(answer.elapsed_ms)
        before = example.context_hash
    if tested < ENOUGH_ANSWERS or 2 * len(below) <= tested:
        return ""
    seconds = f"{median(below) / 1000:.1f} s in the median"
    return f"{len(below)} of {tested} answers faster than anybody reads, {seconds}"


def _reading_s(example: FrozenExample, before: str) -> float:
    """The least that reading takes; a text that was read for the item before is not read again."""
    read = [example.question, *example.options]
    read += example.context if example.context_hash != before else ()
    return min(ANSWERING_S + CHARACTER_S * sum(map(len, read)), LONGEST_S)
