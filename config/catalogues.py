"""Compiles the translations of an installation: the repository keeps their sources alone."""

from pathlib import Path

import polib

LOCALE = Path(__file__).parent.parent / "locale"


def compile_catalogues(folder: Path = LOCALE) -> None:
    for source in folder.glob("*/LC_MESSAGES/*.po"):
        polib.pofile(str(source)).save_as_mofile(str(source.with_suffix(".mo")))


if __name__ == "__main__":
    compile_catalogues()
