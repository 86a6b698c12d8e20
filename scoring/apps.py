from django.apps import AppConfig
from django.db.models.signals import post_migrate, pre_migrate


class ScoringConfig(AppConfig):
    name = "scoring"
    verbose_name = "Scoring"

    def ready(self) -> None:
        from scoring.models.triggers import lift_triggers, restore_triggers

        pre_migrate.connect(lift_triggers, sender=self)
        # SQLite drops triggers silently when a migration remakes a table.
        post_migrate.connect(restore_triggers, sender=self)
