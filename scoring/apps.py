from collections.abc import Collection
from typing import TYPE_CHECKING

from django.apps import AppConfig
from django.db.models.signals import post_migrate, pre_migrate

if TYPE_CHECKING:
    from annotation.models import Study


class ScoringConfig(AppConfig):
    name = "scoring"
    verbose_name = "Scoring"

    def ready(self) -> None:
        from annotation.people.signs import Finder, register
        from scoring.models.triggers import lift_triggers, restore_triggers

        register(Finder("copied", "a system's wrong answers", _runs_of, _copied))
        pre_migrate.connect(lift_triggers, sender=self)
        # SQLite drops triggers silently when a migration remakes a table.
        post_migrate.connect(restore_triggers, sender=self)


# Numerical libraries are first read when somebody looks, not at every start.


def _runs_of(study: "Study") -> str:
    from scoring.cells.copying import state_of_runs

    return state_of_runs(study)


def _copied(study: "Study", assignments: Collection[int]) -> dict[int, str]:
    from scoring.cells.copying import copied

    return copied(study, assignments)
