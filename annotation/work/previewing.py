"""Previewing: a researcher goes through a batch of a draft as an annotator would, by the same
pages.

Nothing is stored. Where the preview stands travels with its forms, and everything else follows from
the batch as it is now. It shows gold after a practice answer, as the study will.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from statistics import fmean

from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from annotation.kinds import Form, answer_kind, answer_score, gold_in_force
from annotation.models import Annotator, Assignment, Batch, Judgement, Outcome, Role, WorkState
from annotation.models.errors import BadInput
from annotation.models.frozen import FrozenExample, draft_content, shuffled
from annotation.work.page import Position, render_asked
from annotation.work.qualifying import screen

PSEUDONYM = "PREVIEW"
# Where a preview can be taken up, by the name in its address.
STOPS = ("description", "practice", "test", "end")


@dataclass(frozen=True)
class PreviewState:
    """Where a preview stands; plain values, so that it can be signed."""

    batch: int
    seed: str
    state: str = WorkState.DESCRIPTION
    step: int = 0
    # S1 of the practice answers so far.
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
        self.order: tuple[FrozenExample, ...] = (
            *shuffled(self.content.training, f"{state.seed}:{Role.TRAINING}"),
            *shuffled(self.content.test, f"{state.seed}:{Role.TEST}"),
        )

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
            return replace(first, state=WorkState.ANSWERING)
        if stop == "test":
            return replace(first, state=WorkState.ANSWERING, step=self.trained)
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
        answer = answer_kind(self.content.kind).read(form, self.example(), self.content)
        texts, spans = tuple(answer.texts), tuple(answer.spans)
        if self.state.step < self.trained:
            content, pk = self.content, self.example().pk
            gold = gold_in_force([pk], content.task_id, content.gold_version)[pk]
            score = answer_score(texts, gold, content.reference_policy, content.normalisation)
            scores = (*self.state.scores, score)
            return replace(
                self.state, state=WorkState.REVEALED, answer=texts, spans=spans, scores=scores
            )
        if self.state.step + 1 == len(self.order):
            return replace(self.state, state=WorkState.FINISHED, outcome=Outcome.COMPLETED)
        return replace(self.state, step=self.state.step + 1)

    def _after_reveal(self) -> PreviewState:
        on = replace(self.state, step=self.state.step + 1, answer=(), spans=())
        if on.step < self.trained:
            return replace(on, state=WorkState.ANSWERING)
        # Nobody else has been here, so the floor alone decides.
        if screen(self._training_score(), [], self.batch.study)["passed"]:
            return replace(on, state=WorkState.DESCRIPTION)
        return replace(on, state=WorkState.FINISHED, outcome=Outcome.SCREENED_OUT)

    def _training_score(self) -> float:
        return 100 * fmean(self.state.scores) if self.state.scores else 0.0

    def _assignment(self, at: datetime) -> Assignment:
        """Never stored: it has no key."""
        return Assignment(
            annotator=Annotator(pseudonym=PSEUDONYM, channel=self.batch.study.channel),
            batch=self.batch,
            study=self.batch.study,
            order_seed=self.state.seed,
            state=self.state.state,
            step=self.state.step,
            outcome=self.state.outcome,
            training_score=self._training_score() if self.state.scores else None,
            screening={"reason": "floor"},
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
