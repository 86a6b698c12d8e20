"""Simulated annotators: they go through the same acts as people, in places of their own, and a few
acts at a time, so that people find room between them."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from math import exp, log, log2
from random import Random

from annotation.jobs.pacing import BESIDE_PEOPLE, Pace, write
from annotation.kinds import answer_kind
from annotation.kinds.base import Form
from annotation.kinds.gold import golds_of
from annotation.models import Assignment, Batch, Channel, Gold, Place, Study, WorkState
from annotation.models.errors import BadInput, Refusal
from annotation.models.frozen import FrozenExample, TaskContent, batch_content
from annotation.work.finishing import withdraw
from annotation.work.joining import Visit, join, person
from annotation.work.judging import begin, current_example, leave_reveal, submit_answer
from annotation.work.places import open_places

PERSONAL_SD = 0.35
DIFFICULTY_SD = 0.9
GAIN_PER_DOUBLING = 0.08
SECONDS_PER_ANSWER = (3.0, 14.0)
# Of those who can't do the task: about a third right.
WEAK_SKILL = 0.35


@dataclass(frozen=True)
class Crowd:
    """Whom a simulation lets in: the usual skill, and the shares of weak ones and of leavers."""

    skill: float
    weak: float = 0.0
    dropout: float = 0.0

    def person(self, seed: int, number: int) -> "SimulatedPerson":
        is_weak = Random(f"weak:{seed}:{number}").random() < self.weak
        return SimulatedPerson(seed, number, WEAK_SKILL if is_weak else self.skill)

    def leaves_at(self, seed: int, number: int, steps: int) -> int | None:
        """The step that this person leaves unanswered; None for those who go to the end."""
        chance = Random(f"dropout:{seed}:{number}")
        return chance.randrange(steps) if chance.random() < self.dropout else None


# Whom a rehearsal lets in if nothing else is said.
USUAL_CROWD = Crowd(skill=0.85, weak=0.1, dropout=0.1)


@dataclass(frozen=True)
class SimulatedPerson:
    """One simulated annotator; everything follows from the seed and the person's number."""

    seed: int
    number: int
    skill: float

    def answer(
        self,
        example: FrozenExample,
        gold: Sequence[str],
        content: TaskContent,
        *,
        examples_seen: int,
    ) -> tuple[Form, float]:
        person = Random(f"person:{self.seed}:{self.number}")
        chance = Random(f"answer:{self.seed}:{self.number}:{example.pk}")
        ability = log(self.skill / (1 - self.skill)) + person.gauss(0, PERSONAL_SD)
        gain = GAIN_PER_DOUBLING * log2(1 + examples_seen)
        logit = ability + gain - difficulty(self.seed, example.pk)
        knows = chance.random() < 1 / (1 + exp(-logit))
        seconds = chance.uniform(*SECONDS_PER_ANSWER)
        kind = answer_kind(content.kind)
        if knows:
            most = kind.most_texts(content.max_spans)
            return kind.right_form(example, gold[:most]), seconds
        return kind.wrong_form(example, gold, content, chance), seconds


def difficulty(seed: int, example_pk: int) -> float:
    return Random(f"example:{seed}:{example_pk}").gauss(0, DIFFICULTY_SD)


READING_S = 25
REVEAL_S = 4
# Where nearly everybody stops or is screened out, a place stays empty after this many tries.
MOST_TRIES = 20


def simulate_study(
    study: Study,
    *,
    skill: float,
    seed: int,
    at: datetime,
    weak: float = 0.0,
    dropout: float = 0.0,
    progress: Callable[[Assignment], None] | None = None,
    pace: Pace = BESIDE_PEOPLE,
) -> list[Assignment]:
    """Let simulated annotators fill every batch of an open study, each a new person by number, so
    that a seed gives the same answers. If run again, fills only what is empty, and first ends what
    an interrupted run with the same seed has begun. `weak` and `dropout` are the shares of people
    who can't do the task, and who stop on the way; others then take their places."""
    if not 0 < skill < 1:
        raise Refusal("The skill is a share of right answers between 0 and 1, such as 0.85.")
    if not study.is_open:
        raise Refusal(f"The study {study.slug} is {study.state}: start it first.")
    if not (0 <= weak <= 1 and 0 <= dropout <= 1):
        raise Refusal("Weak people and dropouts are shares between 0 and 1, such as 0.1.")
    simulation = _Simulation(study, Crowd(skill, weak, dropout), seed, at, pace)
    done = []
    for assignment in simulation.assignments():
        simulation.play(assignment)
        done.append(assignment)
        if progress:
            progress(assignment)
    return done


@dataclass(frozen=True)
class _Simulation:
    study: Study
    crowd: Crowd
    seed: int
    at: datetime
    pace: Pace

    def assignments(self) -> Iterator[Assignment]:
        """What was begun and not ended, then a new one for every empty place."""
        beside = not self.study.is_demonstration
        begun = Assignment.objects.simulated().open().filter(study=self.study)
        mine = begun.filter(annotator__external_id__startswith=self._name(""))
        yield from list(mine.select_related("annotator").order_by("id"))
        for batch in self.study.batches.select_related("task").order_by("id"):
            write(partial(open_places, batch, simulated=beside), self.pace)
            places = Place.objects.filter(batch=batch, simulated=beside)
            tried = Assignment.objects.simulated().filter(batch=batch)
            most = MOST_TRIES * batch.wanted
            while places.claimable(self.at).exists() and tried.count() < most:
                yield write(partial(self._enter, batch), self.pace)

    def play(self, assignment: Assignment) -> None:
        """Play an assignment to its outcome, by a clock of its own."""
        content = batch_content(assignment.batch_id)
        number = int(assignment.annotator.external_id.removeprefix(self._name("")))
        bot = self.crowd.person(self.seed, number)
        leaves_at = self.crowd.leaves_at(self.seed, number, content.steps)
        golds = golds_of(content)
        while not assignment.is_finished:
            try:
                write(partial(self._play_on, assignment, bot, golds, leaves_at), self.pace)
            except (BadInput, LookupError, ValueError) as error:
                assignment.refresh_from_db()
                raise Refusal(
                    f"{assignment.batch.task}, batch {assignment.batch}, step "
                    f"{assignment.step + 1} of {content.steps}: the simulated annotator could not "
                    f"go on ({error})."
                ) from error

    def _enter(self, batch: Batch) -> Assignment:
        number = 1 + Assignment.objects.simulated().filter(study=self.study).count()
        channel = Channel.objects.get(is_simulated=True)
        annotator = person(channel, self._name(number))
        return join(Visit(study=self.study, annotator=annotator, batch=batch), at=self.at)

    def _name(self, number: int | str) -> str:
        # Those of a demonstration are paid, in figures: a file of bonuses takes no colon.
        return f"{self.study.slug}:{self.seed}:{number}".replace(
            ":", "-" if self.study.is_demonstration else ":"
        )

    def _play_on(
        self,
        assignment: Assignment,
        bot: SimulatedPerson,
        golds: dict[int, Gold],
        leaves_at: int | None,
    ) -> None:
        # An earlier try may have been rolled back.
        assignment.refresh_from_db()
        end = time.monotonic() + self.pace.piece_s
        while not assignment.is_finished and time.monotonic() < end:
            if leaves_at == assignment.step and assignment.state == WorkState.ANSWERING:
                withdraw(assignment, at=assignment.shown_at or self.at)
            else:
                _play_step(assignment, bot, golds)


def _play_step(assignment: Assignment, bot: SimulatedPerson, golds: dict[int, Gold]) -> None:
    """One act; its clock goes on from when the page before it was shown."""
    shown_at = assignment.shown_at or assignment.joined_at
    if assignment.state == WorkState.DESCRIPTION:
        begin(assignment, step=assignment.step, at=shown_at + timedelta(seconds=READING_S))
    elif assignment.state == WorkState.REVEALED:
        leave_reveal(assignment, step=assignment.step, at=shown_at + timedelta(seconds=REVEAL_S))
    else:
        example, content = current_example(assignment), batch_content(assignment.batch_id)
        gold, task = golds[example.pk].alternative_texts()[0], content.task_of(example)
        # Checks reveal nothing from which one could learn.
        seen = min(max(assignment.step - len(content.checks), 0), len(content.training))
        form, seconds = bot.answer(example, gold, task, examples_seen=seen)
        at = shown_at + timedelta(seconds=seconds)
        submit_answer(assignment, step=assignment.step, form=form, times={}, at=at)
