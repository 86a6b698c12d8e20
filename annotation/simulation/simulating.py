"""Simulated annotators: they go through the same acts as people, in places of their own."""

from collections.abc import Callable
from datetime import datetime, timedelta

from django.db import transaction

from annotation.kinds.scoring import gold_in_force
from annotation.models import (
    Annotator,
    Assignment,
    Batch,
    Channel,
    Gold,
    Place,
    Study,
    WorkState,
)
from annotation.models.errors import Refusal
from annotation.models.frozen import batch_content
from annotation.simulation.bots import SimulatedPerson
from annotation.work.joining import identify, join
from annotation.work.judging import (
    BrowserTimes,
    begin,
    current_example,
    give_consent,
    leave_reveal,
    submit_answer,
)
from annotation.work.places import open_places

READING_S = 25
REVEAL_S = 4


def simulate_study(
    study: Study,
    *,
    skill: float,
    seed: int,
    at: datetime,
    progress: Callable[[Assignment], None] | None = None,
) -> list[Assignment]:
    """Let simulated annotators fill every batch of an open study.

    Each is a new person, numbered throughout the study, so that the same seed on the same study
    gives the same answers. If run again, fills only what is still empty.
    """
    if not 0 < skill < 1:
        raise Refusal("The skill is a share of right answers between 0 and 1, such as 0.85.")
    if not study.is_open:
        raise Refusal(f"The study {study.slug} is {study.state}: start it first.")
    done = []
    for batch in study.batches.select_related("task").order_by("id"):
        open_places(batch, simulated=True)
        while _has_room(batch, at):
            person = SimulatedPerson(seed, _next_number(study), skill)
            assignment = _play(batch, person, at)
            done.append(assignment)
            if progress:
                progress(assignment)
    return done


def _has_room(batch: Batch, at: datetime) -> bool:
    return Place.objects.filter(batch=batch, simulated=True).claimable(at).exists()


def _next_number(study: Study) -> int:
    return 1 + Assignment.objects.simulated().filter(study=study).count()


@transaction.atomic
def _play(batch: Batch, person: SimulatedPerson, at: datetime) -> Assignment:
    """One assignment from joining to its outcome, by a clock of its own."""
    assignment = join(
        study=batch.study, annotator=_annotator(batch.study, person), batch=batch, at=at
    )
    give_consent(assignment, at=at)
    now = at + timedelta(seconds=READING_S)
    begin(assignment, at=now)
    content = batch_content(batch.pk)
    examples = [example.pk for example in (*content.training, *content.test)]
    golds = gold_in_force(examples, content.task_id, content.gold_version)
    while not assignment.is_finished:
        now = _play_step(assignment, person, golds, now)
    return assignment


def _play_step(
    assignment: Assignment, person: SimulatedPerson, golds: dict[int, Gold], now: datetime
) -> datetime:
    step = assignment.step
    example = current_example(assignment)
    content = batch_content(assignment.batch_id)
    raw, seconds = person.answer(
        example,
        golds[example.pk].alternative_texts()[0],
        max_spans=content.max_spans,
        examples_seen=min(step, len(content.training)),
    )
    now += timedelta(seconds=seconds)
    submit_answer(assignment, step=step, raw=raw, times=BrowserTimes(), at=now)
    if assignment.state == WorkState.REVEALED:
        now += timedelta(seconds=REVEAL_S)
        leave_reveal(assignment, step=step, at=now)
    return now


def _annotator(study: Study, person: SimulatedPerson) -> Annotator:
    channel = Channel.objects.get(is_simulated=True)
    external_id = f"{study.slug}:{person.seed}:{person.number}"
    return identify(channel, external_id)[0]
