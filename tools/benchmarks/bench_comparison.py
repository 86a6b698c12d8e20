"""A whole study's comparison from the database: nothing kept, its scores kept, its table kept.

Six tasks × four numbers of shots × five annotators × 600 items, and twenty systems × three numbers
of shots × five splits on the same tasks. In the same run, to compare with: reading every answer row
by row and scoring it on its own.

    python -m tools.benchmarks.bench_comparison [--systems 20] [--rounds 5]

On SQLite, then on the PostgreSQL server that the tests would use.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from statistics import median
from typing import TYPE_CHECKING, Any

from tools.benchmarks.databases import measure_on_each

if TYPE_CHECKING:
    from annotation.models import Study

COLD_AIM_S, KEPT_AIM_S = 2.0, 0.05
PORTION = 20_000


def timed(work: Callable[[], Any]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--systems", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--database", help="measure on this one alone, which must be empty")
    options = parser.parse_args()
    if options.database:
        return measure_on(options)
    measure_on_each(__spec__.name)


def measure_on(options: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DATA_DIR"] = folder
        os.environ["DATABASE_URL"] = options.database
        os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
        import django

        django.setup()
        from django.core.management import call_command
        from django.db import connection

        from tools.benchmarks.whole_study import Size, store_runs, store_study

        call_command("migrate", verbosity=0)
        size = Size(systems=options.systems)
        study = store_study(size)
        store_runs(study, size)
        tell(
            f"{connection.display_name}: {size.judgements:,} judgements, {size.predictions:,} "
            f"predictions of {size.runs:,} runs"
        )
        measure(study, options.rounds)


def measure(study: "Study", rounds: int) -> None:
    from scoring.cells.scope import Scope
    from scoring.comparison.comparing import compare
    from scoring.models import Comparison, ScoreVector

    def table() -> None:
        compare(Scope(study.benchmark, study))

    plain_s = timed(lambda: score_row_by_row(study))
    nothing_s = timed(table)
    colds, kepts, pages = [], [], []
    for _ in range(rounds):
        Comparison.objects.all().delete()
        colds.append(timed(table))
        kepts.append(timed(table))
        pages.append(timed(lambda: open_page(study)))
    tell(f"  every answer read and scored on its own   {plain_s:8.3f} s")
    tell(f"  the table, no scores kept ({ScoreVector.objects.count():,} made) {nothing_s:8.3f} s")
    tell(f"  the table, scores kept                    {told(colds)}, aim {COLD_AIM_S} s")
    tell(f"  the table, itself kept                    {told(kepts)}, aim {KEPT_AIM_S} s")
    tell(f"  its page, the table kept                  {told(pages)}")
    tell(f"  row by row / scores kept  {plain_s / median(colds):6.1f}")
    tell(f"  scores kept / table kept  {median(colds) / median(kepts):6.1f}")


def score_row_by_row(study: "Study") -> None:
    """What one would write without vectors: one query, one answer after another."""
    from annotation.models import Gold, Judgement
    from scoring.core.s1 import s1_best
    from scoring.models import Prediction

    golds = {
        gold.example_id: gold.alternative_texts()
        for gold in Gold.objects.filter(version__task__benchmark=study.benchmark)
    }
    sources = (
        Judgement.objects.of_test().filter(assignment__study=study),
        Prediction.objects.filter(run__task__benchmark=study.benchmark),
    )
    for rows in sources:
        sums: dict[int, float] = {}
        owner_of = "assignment_id" if rows.model is Judgement else "run_id"
        answers = rows.order_by().values_list(owner_of, "example_id", "answer")
        for owner, example, answer in answers.iterator(chunk_size=PORTION):
            sums[owner] = sums.get(owner, 0.0) + s1_best(answer, golds[example])


def open_page(study: "Study") -> None:
    from django.contrib.auth.models import User
    from django.test import Client

    client = Client(headers={"host": "127.0.0.1"})
    client.force_login(User.objects.get_or_create(username="bench", is_superuser=True)[0])
    response = client.get(f"/studies/{study.slug}/comparison/")
    assert response.status_code == 200


def told(seconds: list[float]) -> str:
    return f"{median(seconds):8.3f} s ({min(seconds):.3f} to {max(seconds):.3f})"


def tell(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
