import csv
import json
import time
from argparse import ArgumentParser
from collections.abc import Sequence
from typing import Any

from django.core.management.base import CommandError

from annotation.jobs import queue
from annotation.management.arguments import RefusingCommand
from annotation.models import JobState, clock
from scoring.core.sample_size import PUBLISHED_ACCURACIES, PUBLISHED_EPISODES, PUBLISHED_HOURS
from scoring.episodes import grids

WAIT_S = 0.2
SWEEP_S = 10
RULES = ("replicates", "resamples", "seed", "target")


class Command(RefusingCommand):
    help = (
        "Simulate how often a bootstrap interval over episodes covers the truth, and how wide it "
        "is, over a grid of accuracies, budgets and numbers of episodes; by default, the grid that "
        "FLEX published. Stores nothing, or with --distribute one job for each part."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add = parser.add_argument
        add("--accuracy", type=float, nargs="+", default=PUBLISHED_ACCURACIES, metavar="A")
        add("--episodes", type=int, nargs="+", default=PUBLISHED_EPISODES, metavar="E")
        size = parser.add_mutually_exclusive_group()
        budgets = "compute budgets, turned into examples by FLEX's cost model"
        size.add_argument("--hours", type=float, nargs="+", default=PUBLISHED_HOURS, help=budgets)
        size.add_argument("--examples", type=int, nargs="+", help="test examples per episode")
        add("--replicates", type=int, default=1000)
        add("--resamples", type=int, default=1000)
        add("--target", choices=["nominal", "clipped"], default="nominal")
        add("--seed", type=int, default=0)
        add("--workers", type=int, help="threads (default: one per processor)")
        parts = "cut the grid into this many jobs for all Celery workers, and work on them too"
        add("--distribute", type=int, metavar="PARTS", help=parts)
        add("--format", choices=["csv", "json"], default="csv")

    def handle(self, *args: Any, **options: Any) -> None:
        grid = options["episodes"], options["accuracy"]
        if options["examples"]:
            points = grids.points_of(options["examples"], *grid)
        else:
            points = grids.points_within(options["hours"], *grid)
        if not points:
            raise CommandError(
                "These budgets do not pay for a single test example: raise the hours."
            )
        rules = {name: options[name] for name in RULES}
        if options["distribute"] is None:
            rows = grids.simulate_grid(points, rules, workers=options["workers"])
        else:
            rows = self._distributed(points, rules, options["distribute"])
        self._print(rows, options["format"])

    def _distributed(
        self, points: Sequence[grids.Row], rules: grids.Rules, parts: int
    ) -> list[grids.Row]:
        """Work alongside whoever else picks up parts, until all are done."""
        grid = grids.distribute_grid(points, rules, parts=parts)
        swept = time.monotonic()
        while (rows := grids.collect_grid(grid)) is None:
            waiting = grids.jobs_of(grid).filter(state=JobState.QUEUED).first()
            if waiting is not None:
                queue.run_job(waiting.pk)
                continue
            time.sleep(WAIT_S)
            # What a killed worker left behind is picked up again.
            if time.monotonic() - swept > SWEEP_S:
                queue.sweep(at=clock.now())
                swept = time.monotonic()
        return rows

    def _print(self, rows: Sequence[grids.Row], form: str) -> None:
        if form == "json":
            self.stdout.write(json.dumps(rows, indent=1))
            return
        writer = csv.DictWriter(self.stdout, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
