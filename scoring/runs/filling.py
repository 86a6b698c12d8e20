"""One run while an import fills it, record by record."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Q

from annotation.models import Task
from annotation.models.errors import BadInput
from scoring.models import Run, RunState
from scoring.runs.formats.records import ClassNumber, FreeText, ReadOptions, ReadPrediction
from scoring.runs.import_report import Counts, form_in_words
from scoring.runs.joining import ItemFinder, NoMatch
from scoring.runs.storing import (
    SameAnswers,
    StoredAlready,
    add,
    answers_alike,
    describe,
    pieces_of,
    remove,
    rule_in_words,
    same_answers,
    storable_answer,
)

ANOTHER_ANSWER = "another prediction for an example that has one; the first was kept"
SAME_ANSWER = "the same prediction again"


@dataclass(frozen=True)
class ImportedRun:
    run: Run
    counts: Counts
    notes: tuple[str, ...]
    # False: the same content was there already, and nothing changed.
    is_new: bool


@dataclass
class Filling:
    run: Run
    items: ItemFinder
    options: ReadOptions
    counts: Counts = field(default_factory=Counts)
    pending: dict[int, tuple[str, ...]] = field(default_factory=dict)
    had_free_text: bool = False
    # Of a file without ids: how many answers it had, each for the item at its place.
    places: int | None = None
    # How its prompts were made, where we made them.
    how: Mapping[str, Any] = field(default_factory=dict)

    @property
    def task(self) -> Task:
        return self.run.task

    def take(self, record: ReadPrediction) -> None:
        """Keep the prediction until the next flush, or count the reason why not."""
        try:
            example = self._example(record)
            answer = storable_answer(self._pieces(record, example))
        except NoMatch as error:
            self.counts.count("unmatched", str(error), record.where)
        except BadInput as error:
            self.counts.count("refused", str(error), record.where)
        else:
            self._keep(example, answer, record.where)

    def flush(self) -> None:
        if not self.pending:
            return
        added = add(self.run, self.pending)
        self.counts.matched += added.stored
        for _ in range(added.repeated):
            self.counts.count("duplicate", SAME_ANSWER)
        for _ in added.different:
            self.counts.count("refused", ANOTHER_ANSWER)
        self.pending.clear()

    def check_places(self) -> None:
        """Raise BadInput where answers that only their order places are not one for each item."""
        if self.places is not None and self.places != len(self.items):
            raise BadInput(
                f"The file has {self.places} answers without ids, but the test set of "
                f"{self.task.slug} has {len(self.items)} items: only a file with one answer for "
                "each item, in the order of the test file, can be read."
            )

    def finish(self, *, together: Collection[int]) -> ImportedRun | None:
        """The whole run, still unseen; the existing one, if it says the same; None if nothing
        matched, or if its answers are those of another run that does not come in together with
        it."""
        self.flush()
        if not self.counts.matched:
            remove([self.run])
            return None
        try:
            notes = tuple(self._notes(together))
        except SameAnswers as error:
            self._refuse_all(str(error))
            return None
        self.counts.missing = len(self.items) - self.counts.matched
        try:
            report = {**self.counts.as_plain(), "notes": list(notes)}
            report = {**report, "prompts": self.how} if self.how else report
            describe(self.run, report, together)
        except StoredAlready as error:
            return self.there_already(error.run)
        shown = (*notes, *form_in_words(self.run.report, self.items.item_set.choices))
        return ImportedRun(self.run, self.counts, shown, is_new=True)

    def there_already(self, run: Run) -> ImportedRun:
        remove([self.run])
        return ImportedRun(run, self.counts, (), is_new=False)

    def _example(self, record: ReadPrediction) -> int:
        if record.prompted is not None:
            self.how = self.how or record.prompted.how
            return self.items.find(record.prompted.example)
        if record.place is None:
            return self.items.find(record.source_id, record.texts)
        self.places = (self.places or 0) + 1
        return self.items.at(record.place)

    def _refuse_all(self, reason: str) -> None:
        remove([self.run])
        for _ in range(self.counts.matched):
            self.counts.count("refused", reason)
        self.counts.matched = 0

    def _pieces(self, record: ReadPrediction, example: int) -> tuple[str, ...]:
        answer, prompt = record.answer, record.prompted
        if isinstance(answer, ClassNumber):
            return self._label(answer.number)
        pieces = self._read(answer, record, example) if isinstance(answer, FreeText) else answer
        return tuple(map(prompt.label_of, pieces)) if prompt else pieces

    def _read(self, answer: FreeText, record: ReadPrediction, example: int) -> tuple[str, ...]:
        self.had_free_text = True
        offered = record.prompted.options if record.prompted else ()
        return pieces_of(
            answer.text,
            self.task.kind,
            options=offered or self.items.options(example),
            separator=self.options.separator,
            none_word=self.options.none_word,
        )

    def _label(self, number: int) -> tuple[str, ...]:
        choices = self.items.item_set.choices
        # A class that there is not is an answer, and wrong.
        return (choices[number] if number < len(choices) else f"class {number}",)

    def _keep(self, example: int, answer: tuple[str, ...], where: str) -> None:
        first = self.pending.get(example)
        if first is None:
            self.pending[example] = answer
        elif set(first) == set(answer):
            self.counts.count("duplicate", SAME_ANSWER, where)
        else:
            self.counts.count("refused", ANOTHER_ANSWER, where)

    def _notes(self, together: Collection[int]) -> list[str]:
        notes = []
        if self.had_free_text:
            notes.append(
                rule_in_words(
                    self.task.kind,
                    separator=self.options.separator,
                    none_word=self.options.none_word,
                )
            )
        if missing := len(self.items) - self.counts.matched:
            notes.append(f"partial: {missing} of {len(self.items)} examples missing")
        return [*notes, *self._others(together), *self._same_answers(together)]

    def _same_answers(self, together: Collection[int]) -> list[str]:
        """A system that answers everything alike does so with any shots; where its answers differ,
        a second run with the same ones is more likely the same file under another name."""
        same = same_answers(self.run, together)
        if same is None:
            return []
        is_expected = same.pk in together or self.options.same_answers
        if not is_expected and not answers_alike(self.run):
            raise SameAnswers(same)
        return [f"the same answers as run {same.pk} ({same.label})"]

    def _others(self, together: Collection[int]) -> list[str]:
        run = self.run
        there = Run.every.filter(Q(state=RunState.COMPLETE) | Q(pk__in=together))
        same = there.filter(
            test_set=run.test_set,
            system=run.system,
            method=run.method,
            shots=run.shots,
            split=run.split,
        )
        pks = [str(pk) for pk in same.exclude(pk=run.pk).values_list("pk", flat=True)]
        return [f"other runs of the same system, shots and split: {', '.join(pks)}"] if pks else []
