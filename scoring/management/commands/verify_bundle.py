from argparse import ArgumentParser
from typing import Any

from annotation.management.arguments import RefusingCommand
from scoring.bundle.packing import verify_bundle
from scoring.management.arguments import add_bundle


class Command(RefusingCommand):
    help = (
        "Check that a study bundle is as it was packed, and that its figures follow from its "
        "answers and gold. Nothing in it is run. Reads and changes no row."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_bundle(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        checked = verify_bundle(options["file"], checksum=options["checksum"])
        self.stdout.write(
            f"The bundle of the study {checked.about.get('study')} is as it was packed, and its "
            f"{len(checked.figures)} figures follow from its answers and gold."
        )
        self.stdout.write(f"Checksum: {checked.checksum}")
