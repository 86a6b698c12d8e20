"""Studies from elsewhere: what people answered whom others asked, as a closed study. Nobody in it
consented, was paid, or is known here; nothing was named before, so no verdict of it is sure."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.text import slugify

from annotation.access.rights import make_owner
from annotation.models import (
    Annotator,
    Assignment,
    Batch,
    Benchmark,
    ChangeAction,
    Channel,
    GivenScore,
    ItemSet,
    Judgement,
    Outcome,
    Role,
    Study,
    StudyState,
    WorkState,
)
from annotation.models.access import record
from annotation.models.channel import ELSEWHERE
from annotation.models.errors import BadInput
from annotation.studies.drafting import check_free
from scoring.core.s1 import SCORER_VERSION

ROWS_AT_ONCE = 1_000
# What a batch asks: its training set (none for zero-shot), and its test set.
Sets = tuple[ItemSet | None, ItemSet]


@dataclass(frozen=True)
class Given:
    """What one person gave to one item: the answer, or where only that is known its score in [0,
    1]; and the seconds that it took, 0 where nobody says."""

    example: int
    answer: Sequence[str] = ()
    score: float | None = None
    seconds: float = 0


# What one person gave in one batch, in order.
Work = Mapping[tuple[str, Sets], Sequence[Given]]


def check_name(name: str) -> str:
    """The short name of a study that is called so. Raises BadInput where it cannot be one."""
    slug = slugify(name)
    if not slug or len(slug) > 80:
        raise BadInput("Name the study in letters or digits, 80 at most, such as “BLiMP 2020”.")
    check_free(slug)
    return slug


@transaction.atomic
def store_study(
    benchmark: Benchmark,
    name: str,
    source: str,
    work: Work,
    *,
    clusters: Mapping[str, str],
    at: datetime,
    owner: User | None,
) -> Study:
    """A study that is closed as it comes: batches, people under pseudonyms, and all that they gave.
    Nobody here knows more of a person than that the same one gave several answers; `clusters`: by
    task the group that whoever imports declares."""
    study = Study.objects.create(
        slug=check_name(name),
        title=name,
        source=source,
        clusters=clusters,
        benchmark=benchmark,
        channel=Channel.objects.get(slug=ELSEWHERE),
    )
    make_owner(study, owner)
    batches = _batches(study, work)
    closed = {"state": StudyState.CLOSED, "started_at": at, "closed_at": at}
    Study.objects.filter(pk=study.pk).update(**closed, frozen={"scorer_version": SCORER_VERSION})
    study.refresh_from_db()
    annotators = _annotators(study, work)
    assignments = Assignment.objects.bulk_create(
        _assignment(annotators[person], batches[sets], len(answers), at)
        for (person, sets), answers in work.items()
    )
    _store_answers(assignments, work.values(), at)
    record(owner, study, ChangeAction.COPIED, {}, {"from": source})
    return study


def _annotators(study: Study, work: Work) -> dict[str, Annotator]:
    """Make the people of a study, under numbers of it."""
    people = list(dict.fromkeys(person for person, _ in work))
    made = Annotator.objects.bulk_create(
        Annotator(channel=study.channel, identity_hash=f"{study.pk}:{number}")
        for number in range(len(people))
    )
    return dict(zip(people, made, strict=True))


def _store_answers(
    assignments: Iterable[Assignment], given: Iterable[Sequence[Given]], at: datetime
) -> None:
    """Store what was given in each assignment: answers as judgements, scores as they are."""
    rows = [
        (assignment, step, answer)
        for assignment, answers in zip(assignments, given, strict=True)
        for step, answer in enumerate(answers)
    ]
    Judgement.objects.bulk_create(
        (_judgement(*row, at) for row in rows if row[2].score is None), batch_size=ROWS_AT_ONCE
    )
    GivenScore.objects.bulk_create(
        (
            GivenScore(
                assignment=assignment, example_id=one.example, score=one.score, seconds=one.seconds
            )
            for assignment, _, one in rows
            if one.score is not None
        ),
        batch_size=ROWS_AT_ONCE,
    )


def _batches(study: Study, work: Work) -> dict[Sets, Batch]:
    """Their gold is the latest; nobody knows what these people read, so they describe nothing."""
    counts = defaultdict[Sets, int](int)
    for _, sets in work:
        counts[sets] += 1
    return {
        (training_set, test_set): Batch.objects.create(
            study=study,
            task=test_set.task,
            training_set=training_set,
            test_set=test_set,
            wanted=people,
            gold_version=test_set.task.latest_gold_version(),
        )
        for (training_set, test_set), people in counts.items()
    }


def _assignment(annotator: Annotator, batch: Batch, items: int, at: datetime) -> Assignment:
    return Assignment(
        annotator=annotator,
        batch=batch,
        study=batch.study,
        exposure_key=batch.task.exposure_key,
        state=WorkState.FINISHED,
        outcome=Outcome.COMPLETED,
        step=items,
        joined_at=at,
        seen_at=at,
        finished_at=at,
    )


def _judgement(assignment: Assignment, step: int, answer: Given, at: datetime) -> Judgement:
    return Judgement(
        assignment=assignment,
        example_id=answer.example,
        role=Role.TEST,
        step=step,
        answer=list(answer.answer),
        shown_at=at,
        submitted_at=at + timedelta(seconds=answer.seconds),
        paid_ms=0,
    )
