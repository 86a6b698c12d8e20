"""Importing predictions: a file of any known format becomes complete runs.

The file is read once, from top to bottom; predictions are stored a few hundred at a time, so that
neither memory nor a database lock has to hold them all. Nobody sees a run before all of them are
there. If the import stops, what it began is removed.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from django.contrib.auth.models import User
from django.db import IntegrityError

from annotation.jobs.pacing import write
from annotation.models import Benchmark, ItemSet
from annotation.models.errors import BadInput
from scoring.models import RunState
from scoring.runs.filling import Filling, ImportedRun
from scoring.runs.formats.records import (
    LeftOut,
    Reader,
    ReadOptions,
    ReadPrediction,
    Refused,
    RunFields,
    over,
)
from scoring.runs.import_report import Counts
from scoring.runs.joining import EpisodeIndex, ItemFinder, NoMatch
from scoring.runs.prompt_ids import as_prompted, of_prompt_id
from scoring.runs.scores import keep_scores
from scoring.runs.storing import find_task, find_test_set, open_run, publish, published_as, remove

MOST_PENDING = 2_000
MOST_TRIES = 5


@dataclass
class RunsReport:
    file: str
    format: str
    runs: list[ImportedRun] = field(default_factory=list)
    # What belongs to no run: unreadable lines, unknown tasks.
    counts: Counts = field(default_factory=Counts)

    @property
    def total(self) -> Counts:
        total = Counts()
        for counts in (self.counts, *(imported.counts for imported in self.runs)):
            total.add(counts)
        return total


def choose_benchmark(name: str) -> Benchmark:
    """The benchmark of this name, or the only one there is."""
    if name:
        benchmark = Benchmark.objects.filter(name=name).first()
        if benchmark is None:
            raise BadInput(
                f"There is no benchmark “{name}”; import it first (manage.py import_benchmark)."
            )
        return benchmark
    names = list(Benchmark.objects.values_list("name", flat=True))
    if len(names) != 1:
        there = f"there are {', '.join(names)}" if names else "there is none yet"
        raise BadInput(f"Name the benchmark with --benchmark; {there}.")
    return Benchmark.objects.get()


def import_predictions(
    *,
    reader: Reader,
    path: Path,
    benchmark: Benchmark,
    options: ReadOptions,
    owner: User | None = None,
) -> RunsReport:
    """Every run of one file. Raises BadInput if the file as a whole cannot be used, or if
    nothing in it belongs to the benchmark."""
    importer = _Importer(reader, path, benchmark, options, owner)
    try:
        report = importer.import_all()
    except BaseException:
        importer.take_away()
        raise
    if not report.runs:
        raise BadInput(_why_nothing(report))
    new = [imported.run for imported in report.runs if imported.is_new]
    for run in new:
        run.refresh_from_db()
    keep_scores(new)
    return report


class _Importer:
    def __init__(
        self,
        reader: Reader,
        path: Path,
        benchmark: Benchmark,
        options: ReadOptions,
        owner: User | None,
    ) -> None:
        self._reader = reader
        self._path = path
        self._benchmark = benchmark
        self._options = options
        self._owner = owner
        self._report = RunsReport(path.name, reader.name)
        # Refusals are cached too: a million lines of one bad run ask only once.
        self._runs: dict[RunFields, Filling | str] = {}
        self._items: dict[int, ItemFinder] = {}
        self._episodes: EpisodeIndex | None = None
        self._taken = 0

    def import_all(self) -> RunsReport:
        for record in self._reader.read(self._path, self._options):
            if isinstance(record, LeftOut):
                self._report.counts.count("left_out", record.reason)
            elif isinstance(record, Refused):
                self._report.counts.count("refused", record.reason, record.where)
            else:
                self._take(record)
        for filling in self._fillings():
            filling.check_places()
        self._finish_all()
        self._publish()
        return self._report

    def _finish_all(self) -> None:
        together: list[int] = []
        for filling in self._fillings():
            imported = filling.finish(together=together)
            if imported is None:
                self._report.counts.add(filling.counts)
                continue
            self._report.runs.append(imported)
            if imported.is_new:
                together.append(imported.run.pk)

    def _publish(self) -> None:
        """What somebody else stored since it was compared is there already."""
        for _ in range(MOST_TRIES):
            new = [imported.run for imported in self._report.runs if imported.is_new]
            try:
                return publish(new)
            except IntegrityError:
                self._leave_out_what_is_there()
        raise BadInput("Somebody else imports the same runs: import the file again.")

    def _leave_out_what_is_there(self) -> None:
        fillings = {filling.run.pk: filling for filling in self._fillings()}
        for number, imported in enumerate(self._report.runs):
            if imported.is_new and (same := published_as(imported.run)):
                self._report.runs[number] = fillings[imported.run.pk].there_already(same)

    def take_away(self) -> None:
        remove(filling.run for filling in self._fillings())

    def _fillings(self) -> Iterator[Filling]:
        return (run for run in self._runs.values() if isinstance(run, Filling))

    def _take(self, record: ReadPrediction) -> None:
        if record.prompted is None and (prompted := of_prompt_id(record.source_id)):
            record = replace(record, prompted=prompted)
        try:
            filling = self._filling_for(record)
        except NoMatch as error:
            self._report.counts.count("unmatched", str(error), record.where)
        except BadInput as error:
            self._report.counts.count("refused", str(error), record.where)
        else:
            filling.take(record)
            self._taken += 1
            if self._taken % MOST_PENDING == 0:
                for pending in self._fillings():
                    pending.flush()

    def _filling_for(self, record: ReadPrediction) -> Filling:
        fields = over(record.run, self._options.run)
        if record.prompted is not None:
            fields = as_prompted(fields, record.prompted.run, said=self._options.run)
        elif record.any_episode:
            fields = self._episode_index().place(fields, record.source_id or "")
        known = self._runs.get(fields)
        if known is None:
            known = self._runs[fields] = self._begin(fields)
        if isinstance(known, str):
            raise BadInput(known)
        return known

    def _begin(self, fields: RunFields) -> Filling | str:
        try:
            test_set = self._test_set(fields)
            run = write(
                lambda: open_run(
                    test_set=test_set,
                    fields=fields,
                    source_format=self._reader.name,
                    source_name=self._path.name,
                    owner=self._owner,
                    state=RunState.STAGED,
                )
            )
        except BadInput as error:
            return str(error)
        return Filling(run, self._items_of(test_set), self._options)

    def _test_set(self, fields: RunFields) -> ItemSet:
        if fields.benchmark not in ("", self._benchmark.name):
            raise BadInput(f"the record is about the benchmark “{fields.benchmark}”")
        return find_test_set(find_task(self._benchmark, fields.task), fields.episode)

    def _items_of(self, test_set: ItemSet) -> ItemFinder:
        if test_set.pk not in self._items:
            self._items[test_set.pk] = ItemFinder(test_set)
        return self._items[test_set.pk]

    def _episode_index(self) -> EpisodeIndex:
        if self._episodes is None:
            self._episodes = EpisodeIndex(self._benchmark, self._options.run.task)
        return self._episodes


def _why_nothing(report: RunsReport) -> str:
    counts = report.counts
    reasons = "; ".join(counts.reasons_in_words()[:3])
    if not reasons:
        return f"{report.file} holds no predictions; nothing was imported."
    return f"Nothing was imported from {report.file} ({report.format}): {reasons}."
