"""What a correction of gold would change: whose answers, and which runs', get another score."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from annotation.kinds import answer_score
from annotation.models import Example, Gold, Judgement, Outcome, Study
from scoring.models import Prediction, RunState


@dataclass(frozen=True)
class Touched:
    """One answer to the item, with its S1 in percent by the gold as it stands and as proposed."""

    who: str
    # The study of a person; the method of a run.
    where: str
    shots: int | str
    split: int | None
    answer: tuple[str, ...]
    before: float
    after: float
    excluded: bool = False


@dataclass(frozen=True)
class Effect:
    people: tuple[Touched, ...]
    runs: tuple[Touched, ...]
    # Answers whose score stays.
    unchanged: int
    # They keep showing, and screening by, the version that they started with.
    studies: tuple[Study, ...]


def effect_of(example: Example, before: Gold, after: Gold) -> Effect:
    """Under the task's own reference policy, over people's completed work and complete runs."""
    people = list(_of_people(example, before, after))
    runs = list(_of_runs(example, before, after))
    return Effect(
        people=_changed(people),
        runs=_changed(runs),
        unchanged=sum(answer.before == answer.after for answer in (*people, *runs)),
        studies=tuple(
            Study.objects.filter(batches__task=example.task, started_at__isnull=False).distinct()
        ),
    )


def _changed(answers: Sequence[Touched]) -> tuple[Touched, ...]:
    """Those that lose most first."""
    changed = [answer for answer in answers if answer.before != answer.after]
    return tuple(sorted(changed, key=lambda answer: (answer.after - answer.before, answer.who)))


def _of_people(example: Example, before: Gold, after: Gold) -> Iterator[Touched]:
    given = Judgement.objects.of_test().filter(
        example=example,
        assignment__outcome=Outcome.COMPLETED,
        assignment__annotator__channel__is_simulated=False,
    )
    given = given.select_related(
        *("assignment__annotator", "assignment__study", "assignment__exclusion"),
        "assignment__batch__training_set",
    )
    for judgement in given.order_by("pk"):
        assignment = judgement.assignment
        yield Touched(
            who=assignment.annotator.pseudonym,
            where=assignment.study.title,
            shots=assignment.batch.shots,
            split=assignment.batch.split,
            answer=tuple(judgement.answer),
            before=_score(judgement.answer, before, example),
            after=_score(judgement.answer, after, example),
            excluded=hasattr(assignment, "exclusion"),
        )


def _of_runs(example: Example, before: Gold, after: Gold) -> Iterator[Touched]:
    given = Prediction.objects.filter(example=example, run__state=RunState.COMPLETE)
    for prediction in given.select_related("run").order_by("pk"):
        run = prediction.run
        yield Touched(
            who=run.system,
            where=run.method,
            shots="all" if run.shots is None else run.shots,
            split=run.split,
            answer=tuple(prediction.answer),
            before=_score(prediction.answer, before, example),
            after=_score(prediction.answer, after, example),
        )


def _score(answer: Sequence[str], gold: Gold, example: Example) -> float:
    task = example.task
    return 100 * answer_score(answer, gold, task.reference_policy, task.normalisation)
