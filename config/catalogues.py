"""The languages of annotators' pages: each is a folder of `locale/`, and nothing else. Their
catalogues are compiled in an installation: the repository keeps the sources alone."""

from pathlib import Path

from babel import Locale
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

FOLDER = Path(__file__).parent.parent / "locale"
SOURCES = "*/LC_MESSAGES/*.po"


def locales(folder: Path = FOLDER) -> dict[str, Locale]:
    """The catalogues by their codes, as a browser sends them; English is what the pages are written
    in."""
    names = {"en", *(source.parts[-3] for source in folder.glob(SOURCES))}
    return {name.lower().replace("_", "-"): Locale.parse(name) for name in sorted(names)}


def compile_catalogues(folder: Path = FOLDER) -> None:
    for source in folder.glob(SOURCES):
        with source.open("rb") as read, source.with_suffix(".mo").open("wb") as written:
            write_mo(written, read_po(read))


if __name__ == "__main__":
    compile_catalogues()
