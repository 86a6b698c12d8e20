"""The commands that documents show.

A fenced block says behind `sh` what a test makes of it:

    sh              run, as it stands and in its order, on a small installation
    sh parsed       read by the command's own parser: it needs a service, or takes too long
    sh stand-in     parsed, and run against a stand-in by a test of its own
    sh elsewhere    another program, or a machine that is not here
"""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

ROOT: Path = settings.BASE_DIR
FENCE = re.compile(r"^ *```(\S+)?(.*?)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
WAYS = ("", "parsed", "stand-in", "elsewhere")
SHELL = ("sh", "console", "bash", "shell")


@dataclass(frozen=True)
class Command:
    page: str
    way: str
    line: str

    @property
    def words(self) -> list[str]:
        """Without what says where Python is, and without variables before the command."""
        words = shlex.split(self.line, comments=True)
        while words and (re.match(r"^[A-Z_]+=", words[0]) or words[0].endswith("python")):
            words.pop(0)
        return words


def pages() -> list[str]:
    documents = [*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md")]
    return sorted(document.relative_to(ROOT).as_posix() for document in documents)


def text(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def commands(page: str) -> Iterator[Command]:
    for language, way, body in FENCE.findall(text(page)):
        if language in SHELL:
            for line in re.sub(r"\\\n\s*", "", body).splitlines():
                if line.strip() and not line.lstrip().startswith("#"):
                    yield Command(page, way.strip(), line.strip())
