"""What the heads share that find pieces of a text: shots become lessons, one or more for each part
of their text, and a model is fitted to them."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, Generic, TypeVar

from scoring.prompts.material import PromptExample, PromptSet
from scoring.tuning.answered import Answered
from scoring.tuning.encoders import context_of
from scoring.tuning.fitting import Told, fit
from scoring.tuning.loading import Source
from scoring.tuning.settings import Settings
from scoring.tuning.windows import Window, windows_of

NOT_FOUND = "{} answers of the shots do not stand in their text, and could not be learned"
LessonT = TypeVar("LessonT")
# Where a piece of a text begins and ends, in characters.
Span = tuple[int, int]


class TextHead(ABC, Generic[LessonT]):
    needs_shots = True

    def __init__(self, source: Source, settings: Settings) -> None:
        self._source = source
        self._settings = settings

    def answer(
        self, prompts: PromptSet, *, validation: Sequence[PromptSet], told: Told
    ) -> Answered:
        model = self._new_model()
        lessons, not_found = self._lessons(prompts.training)
        held = [lesson for others in validation for lesson in self._lessons(others.training)[0]]
        fitted = fit(
            model,
            lessons,
            loss_of=lambda batch: self._loss(model, batch),
            settings=self._settings,
            told=told,
            validation=held,
        )
        return Answered(
            answers=dict(self._answers(model, prompts)),
            fitted=fitted,
            notes=(NOT_FOUND.format(not_found),) if not_found else (),
        )

    def _lessons(self, shots: Sequence[PromptExample]) -> tuple[list[LessonT], int]:
        """With how many answers do not stand in their text."""
        lessons: list[LessonT] = []
        not_found = 0
        for shot in shots:
            context = context_of(shot, self._source.tokenizer)
            not_found += sum(text not in context for text in shot.answer)
            spans = self._spans(shot.answer, context)
            if shot.answer and not spans:
                continue
            for window in windows_of(self._source, self._settings, [shot]):
                lessons += self._lessons_of(window, spans)
        return lessons, not_found

    @abstractmethod
    def _new_model(self) -> Any: ...

    @abstractmethod
    def _spans(self, answers: Sequence[str], context: str) -> list[Span]:
        """Which places of the text a shot's answers teach."""

    @abstractmethod
    def _lessons_of(self, window: Window, spans: Sequence[Span]) -> list[LessonT]: ...

    @abstractmethod
    def _loss(self, model: Any, batch: Sequence[LessonT]) -> Any: ...

    @abstractmethod
    def _answers(self, model: Any, prompts: PromptSet) -> Iterator[tuple[str, tuple[str, ...]]]: ...
