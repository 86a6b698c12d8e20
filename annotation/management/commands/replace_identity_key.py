"""The way back where the identity key is lost."""

from argparse import ArgumentParser
from typing import Any

from annotation.access.identity import replace_key
from annotation.management.arguments import RefusingCommand


class Command(RefusingCommand):
    help = (
        "For an installation whose identity key is lost: makes the hashes of all annotators anew "
        "with the present IDENTITY_KEY, and keeps it as this database's. Changes the hash of every "
        "annotator whose id is stored. Back the database up first, and end the application."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        erased = "also where people were erased, who are then never found again"
        parser.add_argument("--with-erased", action="store_true", help=erased)

    def handle(self, *args: Any, **options: Any) -> None:
        hashed, lost = replace_key(with_erased=options["with_erased"])
        self.stderr.write(
            f"The identity key is replaced: {hashed} annotators are found again, "
            f"{lost} erased ones are not."
        )
