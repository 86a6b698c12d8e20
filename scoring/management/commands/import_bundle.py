from argparse import ArgumentParser
from typing import Any

from annotation.access.rights import find_owner
from annotation.management.arguments import RefusingCommand, add_owner
from scoring.bundle.packing import store, verify_bundle
from scoring.management.arguments import add_bundle


class Command(RefusingCommand):
    help = (
        "Check a study bundle and show its figures, read-only, under “Imported studies”. Adds one "
        "row; no study, task or annotator is made, and nobody in it counts as having seen a task."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_bundle(parser)
        add_owner(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        owner = find_owner(options["owner"])
        checked = verify_bundle(options["file"], checksum=options["checksum"])
        study, is_new = store(checked, owner=owner)
        done = "Imported" if is_new else "Imported before"
        self.stdout.write(
            f"{done}: {study.title} ({study.slug}), to be read under Imported studies."
        )
