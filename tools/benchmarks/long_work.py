"""Long work of every kind at once, beside annotators: an import, a simulation, a comparison, and
two exports.

Each is started as its users start it: the jobs through the queue of the workers, the simulation as
a command.
"""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import ZIP_DEFLATED, ZipFile

from config.serve import POLITELY, worker

if TYPE_CHECKING:  # settings are read once the database is chosen
    from annotation.models import Job


@dataclass(frozen=True)
class Amount:
    examples: int
    simulated: int
    items: int


@dataclass
class LongWork:
    """The import, the command that simulates, and what is ordered again and again beside them, so
    that everything goes on for as long as the import does."""

    imported: int
    command: subprocess.Popen[bytes]
    orders: "Sequence[Callable[[], Job]]"
    # Of each order, the job that goes on; and all that there were.
    latest: list[int] = field(default_factory=list)
    jobs: set[int] = field(default_factory=set)
    # How many jobs were seen to run at the same time, besides the simulation.
    most_at_once: int = 0

    def look(self) -> bool:
        """Order again what is done; whether all of it is over."""
        from annotation.models import Job

        running = Job.objects.filter(pk__in=self.jobs, state="running").count()
        self.most_at_once = max(self.most_at_once, running)
        unfinished = set(
            Job.objects.filter(pk__in=self.jobs, finished_at=None).values_list("pk", flat=True)
        )
        if self.imported in unfinished:
            self._order_again(unfinished)
        return self.command.poll() is not None and not unfinished

    def _order_again(self, unfinished: Container[int]) -> None:
        going_on = dict(zip(self.orders, self.latest, strict=False))
        self.latest = [
            going_on[order] if going_on.get(order) in unfinished else order().pk
            for order in self.orders
        ]
        self.jobs |= {self.imported, *self.latest}

    def unfinished(self) -> list[str]:
        """What did not end well, in words."""
        from annotation.models import Job

        jobs = Job.objects.filter(pk__in=self.jobs).exclude(state="done")
        said = [f"{job}: {job.state} ({job.message})" for job in jobs]
        return said + ["the simulation failed"] * bool(self.command.poll())


@contextmanager
def workers(count: int) -> Iterator[None]:
    """As `make run` starts its two."""
    environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
    processes = [
        subprocess.Popen(worker(f"worker{number}"), env=environment) for number in range(count)
    ]
    try:
        yield
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait()


def prepare(amount: Amount) -> str:
    """An open study for simulated annotators, and a large one to compare and export; returns the
    slug of the first."""
    from tests import make
    from tools.benchmarks.whole_study import Size, store_runs, store_study

    size = Size(tasks=2, annotators=3, items=amount.items, systems=4)
    store_runs(store_study(size), size)
    return make.running_batch(
        zero_shot=True, tests=amount.items, training=0, wanted=amount.simulated
    ).study.slug


def order(amount: Amount, simulated: str) -> LongWork:
    from annotation.jobs.queue import enqueue
    from annotation.models import Job, Study, Upload
    from annotation.studies.exported_judgements import judgements_file
    from scoring.cells.scope import Choices, Scope, file_order
    from scoring.comparison.comparing import enqueue_table
    from scoring.samples.exporting import JOB as SAMPLES

    study = Study.objects.get(slug="whole-study")
    scope = Scope(study.benchmark, study)
    upload = Upload.objects.create(name="large.zip", data=archive_of(amount.examples))

    def compare() -> Job:
        job = enqueue_table(scope, Choices()).job
        assert job is not None
        return job

    orders = (
        compare,
        judgements_file(study, "jsonl").order,
        file_order(SAMPLES, scope, Choices()).order,
    )
    imported = enqueue("import_benchmark", {"name": "large"}, upload=upload)
    command = [sys.executable, "manage.py", "simulate_annotators", "--study", simulated]
    root = Path(__file__).parents[2]
    process = subprocess.Popen(
        [*POLITELY, *command], cwd=root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    work = LongWork(imported.pk, process, orders, jobs={imported.pk})
    work.look()
    return work


def archive_of(examples: int) -> bytes:
    """A benchmark in CLUES layout whose test set has this many examples."""
    buffer = BytesIO()
    with ZipFile(buffer, "w", ZIP_DEFLATED) as archive:
        archive.writestr("Large/x_test.jsonl", "".join(map(_line, range(examples))))
        archive.writestr("Large/x_train_2_1.jsonl", "".join(map(_line, (-1, -2))))
    return buffer.getvalue()


def _line(number: int) -> str:
    row = {
        "id": number,
        "context": f"This is review number {number}, and it says what it says.",
        "question": "good or bad?",
        "answer": ["good" if number % 2 else "bad"],
    }
    return json.dumps(row) + "\n"


async def until_over(work: LongWork, *, at_most_s: float) -> None:
    end = asyncio.get_running_loop().time() + at_most_s
    while asyncio.get_running_loop().time() < end:
        if await asyncio.to_thread(work.look):
            return
        await asyncio.sleep(0.1)
