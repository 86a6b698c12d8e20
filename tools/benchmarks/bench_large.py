"""What might grow with what is stored: joining, an import, an export, the pages that watch a study.

Joining beside the same before the judgements were stored; the pages in the processor time of the
process that serves them, the least of several, once the work is summarised and the comparison
computed; the export beside a bare SELECT written as CSV; the import beside reading and hashing the
same lines and inserting them bare, both in processor time, since an import into SQLite rests
between its writes for the annotators.

    python -m tools.benchmarks.bench_large [--judgements 1000000] [--examples 100000]

On SQLite, then on the PostgreSQL server that the tests would use.
"""

import argparse
import csv
import hashlib
import json
import os
import resource
import tempfile
import time
from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from tools.benchmarks.databases import measure_on_each

if TYPE_CHECKING:
    from annotation.models import Batch, Study

ITEMS = 210  # as many as SST-2 has in CLUES
JOINS = 40
ROUNDS = 5
BARE = """
    SELECT j.assignment_id, j.example_id, j.role, j.step, j.answer, j.shown_at, j.submitted_at,
        j.paid_ms
    FROM annotation_assignment a JOIN annotation_judgement j ON j.assignment_id = a.id
    WHERE a.study_id = %s
"""


def store_people(count: int) -> "Study":
    """A study that so many people completed."""
    from tests import make
    from tools.benchmarks.completed import complete

    batch = make.running_batch(
        zero_shot=True, training=0, tests=ITEMS, wanted=count, slug="large", title="Large"
    )
    complete(batch, count, lambda person, step: ["bad" if (step + person) % 7 else "good"])
    return batch.study


def seconds(act: Callable[[], object]) -> float:
    begin = time.perf_counter()
    act()
    return time.perf_counter() - begin


def joining(batch: "Batch") -> float:
    """The median of what one person's way to the task takes."""
    from django.test import Client

    link = f"/join/batch/{batch.join_token}/"

    def join() -> None:
        client = Client(SERVER_NAME="127.0.0.1")
        assert client.get(link, follow=True).status_code == 200
        page = client.post("/work/consent/", {"agree": "1"}, follow=True)
        assert page.redirect_chain[-1][0] == "/work/", page.redirect_chain

    return median(seconds(join) for _ in range(JOINS))


def tell_of_pages(study: "Study") -> None:
    from django.urls import reverse

    from annotation.people.summaries import refresh
    from scoring.cells.scope import Scope
    from scoring.comparison.comparing import compare

    refresh(study)
    compare(Scope(study.benchmark, study))
    own = {
        f"page {name}": reverse(f"annotation:{name}", args=[study.slug])
        for name in ("watch", "people", "payments")
    }
    comparison = reverse("scoring:comparison", args=["study", study.slug])
    for name, path in {**own, "page comparison": comparison}.items():
        print(f"  {name:34} {processor_seconds_of(page(path)):9.3f} s")
    renewed = page(own["page watch"], {"HX-Request": "true"})
    print(f"  {'what page watch renews':34} {processor_seconds_of(renewed):9.3f} s")


def processor_seconds_of(read: Callable[[], None]) -> float:
    read()  # what a process does but once
    return min(processor_seconds(read) for _ in range(ROUNDS))


def page(path: str, headers: dict[str, str] | None = None) -> Callable[[], None]:
    """Read by somebody with every right."""
    from django.contrib.auth.models import User
    from django.test import Client

    client = Client(SERVER_NAME="127.0.0.1")
    everything = {"is_superuser": True, "is_staff": True}
    client.force_login(User.objects.get_or_create(username="researcher", defaults=everything)[0])

    def read() -> None:
        response = client.get(path, headers=headers)
        assert response.status_code == 200, response.status_code
        assert response.content

    return read


def selected(sql: str, study: "Study") -> Iterable[tuple[object, ...]]:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(sql, [study.pk])
        yield from iter(cursor.fetchone, None)


def written(rows: Iterable[tuple[object, ...]]) -> None:
    with open(os.devnull, "w", newline="") as file:
        csv.writer(file).writerows(rows)


def exported(study: "Study") -> tuple[int, float]:
    """How many lines, and by how many megabytes the process grew after their first tenth."""
    from annotation.studies.exported_judgements import export_judgements

    lines = export_judgements(study, "csv")
    tenth = sum(1 for _ in islice(lines, study_size(study) // 10))
    before = peak_mb()
    return tenth + sum(1 for _ in lines), peak_mb() - before


def study_size(study: "Study") -> int:
    from annotation.models import Judgement

    return Judgement.objects.filter(assignment__study=study).count()


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def benchmark_of(folder: Path, examples: int) -> Path:
    """One task with labels, in the layout of CLUES."""
    task = folder / "large" / "Large"
    task.mkdir(parents=True)
    for name, count in (("test", examples), ("train_10_1", 10)):
        with open(task / f"large_{name}.jsonl", "w") as file:
            for number in range(count):
                row = {
                    "id": f"{name}-{number}",
                    "context": f"Sentence {number} of {name}, which is as long as reviews are.",
                    "question": "good or bad?",
                    "answer": ["bad" if number % 2 else "good"],
                }
                file.write(json.dumps(row) + "\n")
    (task / "task.json").write_text(
        json.dumps({"kind": "choice", "title": "Large", "description": "“good” or “bad”."})
    )
    return task.parent


def imported(folder: Path) -> None:
    from django.core.management import call_command

    with open(os.devnull, "w") as nowhere:
        call_command("import_benchmark", folder, name="imported", stdout=nowhere, stderr=nowhere)


def inserted(folder: Path) -> None:
    from django.db import connection, transaction

    def rows() -> Iterable[tuple[str, str, str]]:
        for file in sorted(folder.glob("*/*.jsonl")):
            for line in file.open():
                row = json.loads(line)
                digest = hashlib.sha256(line.encode()).hexdigest()
                yield digest, row["context"], row["question"]

    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("CREATE TABLE bench_bare (hash TEXT, context TEXT, question TEXT)")
        cursor.executemany("INSERT INTO bench_bare VALUES (%s, %s, %s)", list(rows()))


def processor_seconds(act: Callable[[], object]) -> float:
    begin = time.process_time()
    act()
    return time.process_time() - begin


def tell(what: str, took: float, beside: str, floor: float) -> None:
    print(f"  {what:34} {took:9.3f} s   {beside:36} {floor:8.3f} s   ratio {took / floor:6.1f}")


def run(options: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DATA_DIR"] = folder
        os.environ["DATABASE_URL"] = options.database
        os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
        import django

        django.setup()
        from django.core.management import call_command
        from django.db import connection

        from tests import make

        call_command("migrate", verbosity=0)
        print(f"{connection.display_name}, {options.judgements} judgements")
        batch = make.running_batch(zero_shot=True, training=0, tests=ITEMS, wanted=4 * JOINS)
        joining(batch)  # what a process does but once
        alone = joining(batch)
        begin = time.perf_counter()
        study = store_people(options.judgements // ITEMS)
        stored = time.perf_counter() - begin
        print(f"  stored {study_size(study)} in {stored:.0f} s")
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("ANALYZE")  # as it does by itself a minute later

        tell("join and consent", joining(batch), "before they were stored", alone)
        tell_of_pages(study)
        bare = seconds(lambda: written(selected(BARE, study)))
        begin = time.perf_counter()
        lines, grown = exported(study)
        took = time.perf_counter() - begin
        tell(f"export of {lines - 1} judgements", took, "a bare SELECT as CSV", bare)
        print(f"  memory grew by {grown:.0f} MB after the first tenth of the export")

        large = benchmark_of(Path(folder), options.examples)
        floor = processor_seconds(lambda: inserted(large))
        begin = time.perf_counter()
        took = processor_seconds(lambda: imported(large))
        whole = time.perf_counter() - begin
        tell(f"import of {options.examples} examples", took, "read, hashed, inserted bare", floor)
        print(f"  the import took {whole:.0f} s with its rests")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--judgements", type=int, default=1_000_000)
    parser.add_argument("--examples", type=int, default=100_000)
    parser.add_argument("--database", help="measure on this one alone, which must be empty")
    options = parser.parse_args()
    if options.database:
        return run(options)
    measure_on_each(__spec__.name)


if __name__ == "__main__":
    main()
