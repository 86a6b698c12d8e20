"""Previewing: a researcher goes through a batch of a draft as an annotator would, by the same
pages; and trying, by which somebody may answer an item before the consent.

Nothing is stored. Where the preview stands travels with its forms, and everything else follows
from the batch as it is now. It shows gold after a practice answer, as the study will. The item to
try was written by the researcher, and is in no set.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from statistics import fmean

from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from annotation.kinds import answer_kind
from annotation.kinds.base import Answer, Form
from annotation.kinds.gold import answer_score, gold_in_force
from annotation.models import (
    Annotator,
    Assignment,
    Batch,
    Gold,
    Judgement,
    Outcome,
    Role,
    Study,
    WorkState,
)
from annotation.models.errors import BadInput
from annotation.models.frozen import BatchContent, FrozenExample, draft_content
from annotation.work.page import Position, render_asked
from annotation.work.qualifying import screen, screen_checks

PSEUDONYM = "PREVIEW"
# Where a preview can be taken up, by the name in its address.
STOPS = ("description", "practice", "test", "end")


@dataclass(frozen=True)
class PreviewState:
    """Says where a preview stands; plain values, so that it can be signed."""

    batch: int
    seed: str
    state: str = WorkState.DESCRIPTION
    step: int = 0
    # S1 of the answers so far, to the checks or then to the practice.
    scores: Sequence[float] = ()
    # The answer to the present step, once it is given.
    answer: Sequence[str] = ()
    spans: Sequence[Sequence[int]] = ()
    outcome: str = ""


class Preview(Position):
    """A batch of a draft as it is now, at one position."""

    def __init__(self, batch: Batch, state: PreviewState, *, at: datetime) -> None:
        self.batch, self.state = batch, state
        super().__init__(self._assignment(at), draft_content(batch))
        self.order = self.content.in_order(state.seed)

    @property
    def trained(self) -> int:
        return len(self.content.training)

    def example(self) -> FrozenExample:
        return self.order[self.state.step]

    def asked(self, example: FrozenExample) -> SafeString:
        return render_asked(self.content, example)

    def at(self, stop: str) -> PreviewState:
        first = replace(self.state, step=0, scores=(), answer=(), spans=(), outcome="")
        if stop == "practice" and self.trained:
            step = len(self.content.checks)
            return replace(first, state=WorkState.ANSWERING, step=step)
        if stop == "test":
            return replace(first, state=WorkState.ANSWERING, step=self.content.test_from)
        if stop == "end":
            last = len(self.order) - 1
            return replace(first, state=WorkState.FINISHED, step=last, outcome=Outcome.COMPLETED)
        return replace(first, state=WorkState.DESCRIPTION)

    def sent(self, form: Form) -> PreviewState:
        """The state after the form of the present page. Raises BadInput, as the real page does."""
        state = self.state
        if state.step >= len(self.order):
            raise BadInput(_("The batch has changed since: begin the preview again."))
        if state.state == WorkState.DESCRIPTION:
            return replace(state, state=WorkState.ANSWERING)
        if state.state == WorkState.REVEALED:
            return self._after_reveal()
        return self._answered(form) if state.state == WorkState.ANSWERING else state

    def _answered(self, form: Form) -> PreviewState:
        example = self.example()
        task = self.content.task_of(example)
        answer = answer_kind(task.kind).read(form, example, task)
        texts, spans = tuple(answer.texts), tuple(answer.spans)
        following = self.state.step + 1
        if following == len(self.order):
            return replace(self.state, state=WorkState.FINISHED, outcome=Outcome.COMPLETED)
        if example.role == Role.TEST:
            return replace(self.state, step=following)
        gold = gold_in_force([example.pk], task.task_id, task.gold_version)[example.pk]
        score = answer_score(texts, gold, task.reference_policy, task.normalisation)
        scores = (*self.state.scores, score)
        if example.role == Role.TRAINING:
            return replace(
                self.state, state=WorkState.REVEALED, answer=texts, spans=spans, scores=scores
            )
        on = replace(self.state, step=following, scores=scores)
        return on if following < len(self.content.checks) else self._after_checks(on)

    def _after_checks(self, on: PreviewState) -> PreviewState:
        if screen_checks(self._mean(on.scores), self.batch.least_check_score)["passed"]:
            return replace(on, state=WorkState.DESCRIPTION, scores=())
        return replace(on, state=WorkState.FINISHED, outcome=Outcome.SCREENED_OUT)

    def _after_reveal(self) -> PreviewState:
        on = replace(self.state, step=self.state.step + 1, answer=(), spans=())
        if on.step < self.content.test_from:
            return replace(on, state=WorkState.ANSWERING)
        # Nobody else has been here, so the floor alone decides.
        if screen(self._mean(self.state.scores), [], self.batch.study)["passed"]:
            return replace(on, state=WorkState.DESCRIPTION)
        return replace(on, state=WorkState.FINISHED, outcome=Outcome.SCREENED_OUT)

    @staticmethod
    def _mean(scores: Sequence[float]) -> float:
        return 100 * fmean(scores) if scores else 0.0

    def _assignment(self, at: datetime) -> Assignment:
        """Never stored: it has no key."""
        checked = self.batch.check_set.items.count() if self.batch.check_set else 0
        study, score = self.batch.study, self._mean(self.state.scores)
        passed = self.state.step > checked
        checks = {"passed": passed, "score": score, "floor": self.batch.least_check_score}
        return Assignment(
            annotator=Annotator(pseudonym=PSEUDONYM, channel=self.batch.study.channel),
            batch=self.batch,
            study=self.batch.study,
            order_seed=self.state.seed,
            state=self.state.state,
            step=self.state.step,
            outcome=self.state.outcome,
            training_score=score if self.state.scores else None,
            screening={"reason": "floor", "score": score, "floor": study.min_training_score},
            check_screening=checks if checked else {},
            joined_at=at,
            consented_at=at,
            shown_at=at,
            seen_at=at,
        )

    def judgement(self) -> Judgement:
        return Judgement(
            example_id=self.example().pk,
            role=self.example().role,
            step=self.state.step,
            answer=list(self.state.answer),
            spans=[list(span) for span in self.state.spans],
        )


def to_try(contents: Iterable[BatchContent]) -> list[BatchContent]:
    """Picks one batch of each task that can be tried."""
    return list({one.task_id: one for one in contents if one.sample.get("text")}.values())


class Trial(Position):
    """A sample, once it was answered with its reference."""

    def __init__(self, study: Study, content: BatchContent, answer: Answer | None = None) -> None:
        self.answer, self.sample = answer, content.sample
        state = WorkState.REVEALED if answer else WorkState.ANSWERING
        nobody = Assignment(
            study=study, annotator=Annotator(channel=study.channel), order_seed="try", state=state
        )
        asked = _asked(content)
        alone = replace(content, training=(asked,), test=(), checks=(), check_task=None)
        super().__init__(nobody, alone)

    def example(self) -> FrozenExample:
        return self.content.training[0]

    def asked(self, example: FrozenExample) -> SafeString:
        return render_asked(self.content, example)

    def judgement(self) -> Judgement | None:
        if self.answer is None:
            return None
        spans = [list(span) for span in self.answer.spans]
        return Judgement(answer=list(self.answer.texts), spans=spans, role=Role.TRAINING)

    def gold(self, example: FrozenExample) -> Gold:
        kind = answer_kind(self.content.kind)
        pieces = [{"text": text} for text in kind.meant(self.sample["answer"], example)]
        return Gold(alternatives=[pieces], explanation=self.sample.get("explanation", ""))


def _asked(content: BatchContent) -> FrozenExample:
    sample = content.sample
    return FrozenExample(
        pk=0,
        role=Role.TRAINING,
        position=0,
        context=tuple(sample["text"]),
        context_hash="",
        question=sample.get("question", ""),
        candidates=tuple(
            (number, start, start + len(name))
            for number, segment in enumerate(sample["text"])
            for name in sample.get("names", [])
            for start in range(len(segment))
            if segment.startswith(name, start)
        ),
        labels=content.test[0].labels,
        options=tuple(sample.get("options", [])),
    )
