"""Trying: an item that somebody may answer before the consent. The researcher wrote it; it is in no
set, and nothing of it is stored."""

from collections.abc import Iterable
from dataclasses import replace

from django.utils.safestring import SafeString

from annotation.kinds import Answer, answer_kind
from annotation.models import Annotator, Assignment, Gold, Judgement, Role, Study, WorkState
from annotation.models.frozen import BatchContent, FrozenExample
from annotation.work.page import Position, render_asked


def to_try(contents: Iterable[BatchContent]) -> list[BatchContent]:
    """Of each task that can be tried, one."""
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
