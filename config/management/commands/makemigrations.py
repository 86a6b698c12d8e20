from django.core.management.commands import makemigrations

from config.migrations import TablesAlone


class Command(makemigrations.Command):
    autodetector = TablesAlone
