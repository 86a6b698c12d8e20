from django.apps import AppConfig
from django.db.models.signals import post_migrate, pre_migrate


class AnnotationConfig(AppConfig):
    name = "annotation"
    verbose_name = "Annotation"

    def ready(self) -> None:
        from annotation.access.identity import remember_after_migration
        from annotation.models.locks import lift_locks, restore_locks

        pre_migrate.connect(lift_locks, sender=self)
        # SQLite drops triggers silently when a migration remakes a table.
        post_migrate.connect(restore_locks, sender=self)
        post_migrate.connect(remember_after_migration, sender=self)
