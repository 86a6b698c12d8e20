"""Flags: what of somebody's work deserves a look. A flag compares a person with the others on the
same task, or states what was seen; it decides nothing and changes no score."""

from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from annotation import models
from annotation.kinds import answer_score, golds_of
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

# By batch and hash of the answers that several gave, whether any is wrong: as both the answers and
# the gold of a started study stay as they are, a process need not look again.
HAS_WRONG: dict[tuple[int, str | None], bool] = {}

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
            *_compared(person, times[person.batch.task_id], shares[person.batch.task_id]),
            *_equal(person, twins.get(person.pk, ())),
            *_seen(
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


def _compared(person: Person, times: Sequence[float], shares: Sequence[float]) -> Iterable[Flag]:
    """Compare with all on the same task, whose figures are sorted; the person's are among them."""
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
    """Compute it without a look at each: everybody is compared, and there may be thousands."""
    left_out, count = bisect_left(ordered, value), len(ordered) - 1
    low, high = (n + (n >= left_out) for n in ((count - 1) // 2, count // 2))
    return (ordered[low] + ordered[high]) / 2


def _equal(person: Person, twins: Sequence[Person]) -> Iterable[Flag]:
    others = [other for other in twins[: MOST_NAMES + 2] if other.pk != person.pk]
    if others:
        told = ", ".join(other.pseudonym for other in others[:MOST_NAMES])
        more = "…" if len(others) > MOST_NAMES else ""
        sentence = f"gave exactly the answers of {told}{more}, wrong ones included"
        yield Flag("equal", sentence, tuple(others[:MOST_NAMES]))


def _twins(everybody: Iterable[Person]) -> dict[int, list[Person]]:
    """Who gave exactly the same answers to the same test, not all of them right."""
    groups: dict[str, list[Person]] = defaultdict(list)
    for person in everybody:
        if person.answers_hash and _has_enough(person):
            groups[person.answers_hash].append(person)
    equal = [group for group in groups.values() if len(group) > 1]
    _look_for_wrong(group[0] for group in equal)
    return {person.pk: group for group in equal if HAS_WRONG[_key(group[0])] for person in group}


def _key(person: Person) -> tuple[int, str | None]:
    return person.batch.pk, person.answers_hash


def _look_for_wrong(people: Iterable[Person]) -> None:
    """Notes in HAS_WRONG whether an answer was wrong, where that is not known yet."""
    new = {person.pk: person for person in people if _key(person) not in HAS_WRONG}
    judgements = models.Judgement.objects.of_test().filter(assignment__in=new).order_by("step")
    answers: dict[int, list[tuple[int, list[str]]]] = defaultdict(list)
    for pk, example, texts in judgements.values_list("assignment_id", "example_id", "answer"):
        answers[pk].append((example, texts))
    contents = {pk: batch_content(pk) for pk in {person.batch.pk for person in new.values()}}
    golds = {pk: golds_of(content) for pk, content in contents.items()}
    for pk, person in new.items():
        content, gold = contents[person.batch.pk], golds[person.batch.pk]
        HAS_WRONG[_key(person)] = any(
            answer_score(texts, gold[example], content.reference_policy, content.normalisation) < 1
            # Whoever is at work may have answered more since.
            for example, texts in answers[pk][: person.tested]
        )


def _seen(
    person: Person, floor: float | None, comments: int, is_below_rule: bool
) -> Iterable[Flag]:
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
