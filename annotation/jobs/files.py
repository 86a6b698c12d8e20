"""Large files: a worker makes the file, and it is fetched when it is ready.

Made while somebody waits, it would hold a thread of the web server that annotators need.
"""

import zlib
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime, timedelta
from tempfile import TemporaryFile
from typing import IO

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet

from annotation.jobs import queue
from annotation.jobs.pacing import write
from annotation.models import Benchmark, Job, JobFile, Study
from annotation.models.job import OVER

# Answers that a file is made from: about a second's worth.
MOST_AT_ONCE = 10_000
KEPT_FOR = timedelta(days=7)
GZIP = 31  # zlib's word for its format


def on_disk(fill: Callable[[IO[bytes]], object]) -> IO[bytes]:
    """A file on disk rather than in memory, filled and at its start; gone once whoever sends it
    closes it, or at once where filling it fails."""
    with ExitStack() as closing:
        file = closing.enter_context(TemporaryFile())
        fill(file)
        file.seek(0)
        closing.pop_all()
        return file


@dataclass(frozen=True)
class FileOrder:
    """A file, by the job that makes it.

    All that the file depends on is among the arguments, what its reader may see included: so two
    readers have one file only where both may see all of it.
    """

    kind: str
    of: Study | Benchmark
    arguments: Mapping[str, str | int | None]
    # How many answers it is made from.
    answers: int

    @property
    def is_large(self) -> bool:
        return self.answers > MOST_AT_ONCE

    @property
    def jobs(self) -> QuerySet[Job]:
        """The orders of this file, the last one first."""
        same = {f"arguments__{name}": value for name, value in self._all_arguments.items()}
        return Job.objects.filter(kind=self.kind, **same).order_by("-pk")

    @property
    def _all_arguments(self) -> dict[str, str | int | None]:
        return {self.of._meta.model_name or "": self.of.pk, **self.arguments}

    def order(self, *, author: User | None = None) -> Job:
        """Have the file made, unless it is being made already."""
        with transaction.atomic():
            # One after the other: two clicks order one file.
            list(type(self.of)._default_manager.select_for_update().filter(pk=self.of.pk))
            present = self.jobs.exclude(state__in=OVER).first()
            return present or queue.enqueue(self.kind, self._all_arguments, author=author)


def keep(job: Job, name: str, content: Iterable[bytes]) -> queue.Result:
    """What the job has made; a second run of it replaces the first one's."""
    packing = zlib.compressobj(wbits=GZIP)
    data = b"".join([*map(packing.compress, content), packing.flush()])
    write(lambda: JobFile.objects.update_or_create(job=job, defaults={"name": name, "data": data}))
    return {"summary": f"{name} is ready."}


def uncompressed(data: bytes) -> bytes:
    return zlib.decompress(data, GZIP)


def remove_old(*, at: datetime) -> None:
    JobFile.objects.filter(created_at__lt=at - KEPT_FOR).delete()
