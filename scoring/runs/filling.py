"""One run while an import fills it, record by record."""

from dataclasses import dataclass, field

from annotation.models import Kind, Task
from annotation.models.errors import BadInput
from scoring.models import Run
from scoring.runs.formats.records import Answer, ClassNumber, FreeText, ReadOptions, ReadPrediction
from scoring.runs.free_text import pieces_of, rule_in_words
from scoring.runs.import_report import Counts
from scoring.runs.joining import ItemFinder, NoMatch
from scoring.runs.storing import StoredAlready, add_predictions, check_answer, finish_run

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
    outside_choices: int = 0
    above_limit: int = 0

    @property
    def task(self) -> Task:
        return self.run.task

    def take(self, record: ReadPrediction) -> None:
        """Keep the prediction until the next flush, or count the reason why not."""
        try:
            example = self.items.find(record.source_id, record.texts)
            answer = check_answer(self._pieces(record.answer), self.task.kind)
        except NoMatch as error:
            self.counts.count("unmatched", str(error), record.where)
        except BadInput as error:
            self.counts.count("refused", str(error), record.where)
        else:
            self._keep(example, answer, record.where)

    def flush(self) -> None:
        if not self.pending:
            return
        added = add_predictions(self.run, self.pending)
        self.counts.matched += added.stored
        for _ in range(added.repeated):
            self.counts.count("duplicate", SAME_ANSWER)
        for _ in added.different:
            self.counts.count("refused", ANOTHER_ANSWER)
        self.pending.clear()

    def finish(self) -> ImportedRun | None:
        """The complete run; the existing one, if it says the same; None if nothing matched."""
        self.flush()
        if not self.counts.matched:
            self.run.delete()
            return None
        self.counts.missing = len(self.items) - self.counts.matched
        notes = tuple(self._notes())
        try:
            finish_run(self.run, report={**self.counts.as_plain(), "notes": list(notes)})
        except StoredAlready as error:
            self.run.delete()
            return ImportedRun(error.run, self.counts, (), is_new=False)
        return ImportedRun(self.run, self.counts, notes, is_new=True)

    def _pieces(self, answer: Answer) -> tuple[str, ...]:
        if isinstance(answer, FreeText):
            self.had_free_text = True
            return pieces_of(
                answer.text,
                self.task.kind,
                separator=self.options.separator,
                none_word=self.options.none_word,
            )
        return self._label(answer.number) if isinstance(answer, ClassNumber) else answer

    def _label(self, number: int) -> tuple[str, ...]:
        choices = self.items.item_set.choices
        if number >= len(choices):
            raise BadInput(f"there is no class {number}: the test set has {len(choices)} choices")
        return (choices[number],)

    def _keep(self, example: int, answer: tuple[str, ...], where: str) -> None:
        first = self.pending.get(example)
        if first is None:
            self.pending[example] = answer
            self._look_at(answer)
        elif set(first) == set(answer):
            self.counts.count("duplicate", SAME_ANSWER, where)
        else:
            self.counts.count("refused", ANOTHER_ANSWER, where)

    def _look_at(self, answer: tuple[str, ...]) -> None:
        """Count what is stored as it is but looks like a mistake."""
        choices = self.items.item_set.choices
        if self.task.kind == Kind.CHOICE and answer and choices:
            self.outside_choices += answer[0] not in choices
        if self.task.max_spans is not None:
            self.above_limit += len(answer) > self.task.max_spans

    def _notes(self) -> list[str]:
        notes = []
        if self.had_free_text:
            notes.append(
                rule_in_words(
                    self.task.kind,
                    separator=self.options.separator,
                    none_word=self.options.none_word,
                )
            )
        if self.counts.missing:
            notes.append(f"partial: {self.counts.missing} of {len(self.items)} examples missing")
        if self.outside_choices:
            choices = ", ".join(self.items.item_set.choices)
            notes.append(f"{self.outside_choices} labels are not among the choices ({choices})")
        if self.above_limit:
            notes.append(
                f"{self.above_limit} predictions have more pieces than people may choose "
                f"({self.task.max_spans})"
            )
        return [*notes, *self._others()]

    def _others(self) -> list[str]:
        run = self.run
        same = Run.objects.complete().filter(
            test_set=run.test_set,
            system=run.system,
            method=run.method,
            shots=run.shots,
            split=run.split,
        )
        pks = [str(pk) for pk in same.exclude(pk=run.pk).values_list("pk", flat=True)]
        return [f"other runs of the same system, shots and split: {', '.join(pks)}"] if pks else []
