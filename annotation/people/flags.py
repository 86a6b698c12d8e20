"""Flags: what of somebody's work deserves a look. A flag compares a person with the others on the
same task, or states what was seen; it decides nothing and changes no score."""

from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from annotation import models
from annotation.kinds.gold import answer_score, golds_of
from annotation.models.frozen import batch_content
from annotation.people import signs
from annotation.studies.monitoring import Person
from scoring.tables.words import counted

# Fewer others say little about what is usual.
ENOUGH_OTHERS = 4
FAST_SHARE = 1 / 3
# Below this many answers, all alike is chance.
ENOUGH_ANSWERS = 8
ALIKE_SHARE = 0.95
MOST_NAMES = 5
LONG_ABSENCE_MS = 10 * 60_000
_LEFT = (models.SubmissionStatus.RETURNED, models.SubmissionStatus.TIMED_OUT)

# What this process remembers, by batch and hash of the answers that several gave: whether any is
# wrong. Both the answers and the gold of a started study stay as they are, so it looks only once.
_has_wrong: dict[tuple[int, str | None], bool] = {}

NAMES = {
    "fast": "very fast",
    "alike": "answers all alike",
    "no_skill": "practice at no-skill level",
    "equal": "answers equal to another's",
    "absent": "long absence",
    "problems": "reported problems",
    "platform": "the platform says otherwise",
    "rule": "now below the rule",
}


def labels() -> dict[str, str]:
    """The labels of all flags; those of signs come first."""
    return signs.labels() | NAMES


@dataclass(frozen=True)
class Flag:
    name: str
    sentence: str
    # Whom a page leads to beside it.
    others: tuple[Person, ...] = ()

    @property
    def label(self) -> str:
        return labels()[self.name]


def flags_of(
    everybody: Sequence[Person],
    *,
    floors: Mapping[int, float | None],
    comments: Mapping[int, int],
    below_rule: Collection[int],
) -> dict[int, list[Flag]]:
    """The flags by assignment. `floors` is what no skill earns on a task, in percent, if that is
    known; `comments` are how many each has written, and `below_rule` those whom the study's rule
    would drop now."""
    times: dict[int, list[float]] = defaultdict(list)
    shares: dict[int, list[float]] = defaultdict(list)
    for person in everybody:
        if person.median_ms is not None:
            insort(times[person.batch.task_id], person.median_ms)
        if person.commonest_share is not None and _has_enough(person):
            insort(shares[person.batch.task_id], person.commonest_share)
    twins = _twins(everybody)
    return {
        person.pk: [
            *(Flag(name, evidence) for name, evidence in (person.signs or {}).items()),
            *_unlike_others(person, times[person.batch.task_id], shares[person.batch.task_id]),
            *_equal_to_others(person, twins.get(person.pk, ())),
            *_stated(
                person,
                floors.get(person.batch.task_id),
                comments.get(person.pk, 0),
                person.pk in below_rule,
            ),
        ]
        for person in everybody
    }


def _has_enough(person: Person) -> bool:
    return (person.tested or 0) >= ENOUGH_ANSWERS


def _unlike_others(
    person: Person, times: Sequence[float], shares: Sequence[float]
) -> Iterable[Flag]:
    """The flags of who is faster than the others on the task, or gives one answer more often.
    `times` and `shares` are sorted, and those of all on the task: the person's own as well."""
    ms, share = person.median_ms, person.commonest_share
    if ms is not None and len(times) > ENOUGH_OTHERS:
        usual = _median_of_others(times, ms)
        if ms < FAST_SHARE * usual:
            yield Flag("fast", f"answers in {ms / 1000:.1f} s, the others in {usual / 1000:.1f} s")
    if share is None or share < ALIKE_SHARE or not _has_enough(person):
        return
    # Unless the others' answers are all alike too: then the task is like that.
    if len(shares) == 1 or _median_of_others(shares, share) < ALIKE_SHARE:
        yield Flag("alike", f"{100 * share:.0f} % of {person.tested} answers are the same")


def _median_of_others(ordered: Sequence[float], value: float) -> float:
    """The median of sorted values without one of this value. It counts places instead of copying
    the values: everybody is compared, and there may be thousands."""
    left_out, count = bisect_left(ordered, value), len(ordered) - 1

    def other(place: int) -> float:
        return ordered[place if place < left_out else place + 1]

    return (other((count - 1) // 2) + other(count // 2)) / 2


def _equal_to_others(person: Person, twins: Sequence[Person]) -> Iterable[Flag]:
    # Most of a large group are never looked at: the person, those to name, and one more.
    others = [other for other in twins[: MOST_NAMES + 2] if other.pk != person.pk]
    if others:
        named, more = others[:MOST_NAMES], "…" if len(others) > MOST_NAMES else ""
        names = ", ".join(other.pseudonym for other in named)
        sentence = f"gave exactly the answers of {names}{more}, wrong ones included"
        yield Flag("equal", sentence, tuple(named))


def _twins(everybody: Iterable[Person]) -> dict[int, list[Person]]:
    """Who gave exactly the same answers to the same test, not all of them right."""
    groups: dict[str, list[Person]] = defaultdict(list)
    for person in everybody:
        if person.answers_hash and _has_enough(person):
            groups[person.answers_hash].append(person)
    equal = [group for group in groups.values() if len(group) > 1]
    _remember_wrong(group[0] for group in equal)
    return {person.pk: group for group in equal if _has_wrong[_key(group[0])] for person in group}


def _key(person: Person) -> tuple[int, str | None]:
    return person.batch.pk, person.answers_hash


def _remember_wrong(people: Iterable[Person]) -> None:
    """Look up whether any of their answers is wrong, unless it is remembered."""
    new = {person.pk: person for person in people if _key(person) not in _has_wrong}
    judgements = models.Judgement.objects.of_test().filter(assignment__in=new).order_by("step")
    answers: dict[int, list[tuple[int, list[str]]]] = defaultdict(list)
    for pk, example, texts in judgements.values_list("assignment_id", "example_id", "answer"):
        answers[pk].append((example, texts))
    contents = {pk: batch_content(pk) for pk in {person.batch.pk for person in new.values()}}
    golds = {pk: golds_of(content) for pk, content in contents.items()}
    for pk, person in new.items():
        content, gold = contents[person.batch.pk], golds[person.batch.pk]
        _has_wrong[_key(person)] = any(
            answer_score(texts, gold[example], content.reference_policy, content.normalisation) < 1
            # Whoever is at work may have answered more since.
            for example, texts in answers[pk][: person.tested]
        )


def _stated(
    person: Person, floor: float | None, comments: int, is_below_rule: bool
) -> Iterable[Flag]:
    """The flags that need no others: what was measured, written, or said by the platform."""
    score, longest_ms = person.training_score, person.longest_ms or 0
    if score is not None and floor is not None and score <= floor:
        yield Flag("no_skill", f"{score:.0f} % in practice; {floor:.0f} % takes no skill")
    if longest_ms >= LONG_ABSENCE_MS:
        yield Flag("absent", f"{longest_ms // 60_000} minutes before one answer")
    if comments:
        yield Flag("problems", f"{counted(comments, 'problem')} reported")
    if is_below_rule:
        yield Flag("rule", "with those who have finished since, the rule would drop them")
    status = person.status or ""
    is_left = person.outcome == models.Outcome.COMPLETED and status in _LEFT
    if status == models.SubmissionStatus.REJECTED or is_left:
        yield Flag("platform", f"{models.SubmissionStatus(status).label} on the platform")
