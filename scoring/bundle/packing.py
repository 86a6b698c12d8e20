"""Writing a bundle: one zip, file after file, never in memory as a whole. The same data give the
same bytes."""

import csv
import io
import json
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import IO, Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from django.contrib.auth.models import User

from annotation.models import ChangeAction, Study
from annotation.models.access import record
from annotation.models.errors import NotReady
from scoring.bundle.contents import Contents, Wanted
from scoring.bundle.dictionary import FIELDS
from scoring.bundle.readme import readme

SUMS = "SHA256SUMS"
SCRIPT = "figures.py"
# The moment of packing would make every bundle another one.
NO_TIME = (1980, 1, 1, 0, 0, 0)


def export_bundle(
    study: Study, file: IO[bytes], wanted: Wanted | None = None, *, by: User | None = None
) -> str:
    """Write the bundle of a study that has started, and log it. Returns its checksum, which
    vouches for every file: published elsewhere, it shows that nothing was changed since."""
    if not study.is_frozen:
        raise NotReady(f"The study {study.slug} has not started: there is nothing to pack yet.")
    wanted = wanted or Wanted()
    contents = Contents(study, wanted)
    sums: dict[str, str] = {}
    with ZipFile(file, "w", ZIP_DEFLATED) as archive:
        for name, lines in _files(contents, wanted):
            sums[name] = _put(archive, name, lines)
        listed = "".join(f"{digest}  {name}\n" for name, digest in sorted(sums.items()))
        checksum = _put(archive, SUMS, [listed])
    record(by, study, ChangeAction.BUNDLE_EXPORTED, {}, {"bundle": checksum})
    return checksum


def _files(contents: Contents, wanted: Wanted) -> Iterator[tuple[str, Iterable[str]]]:
    about = contents.about()
    yield "README.md", [readme(about)]
    yield "study.json", [json.dumps(about, indent=2, ensure_ascii=False) + "\n"]
    for name in FIELDS:
        if name != "texts.jsonl" or wanted.texts:
            yield name, _lines(getattr(contents, name.removesuffix(".jsonl"))())
    yield "dictionary.csv", [_dictionary(wanted)]
    yield SCRIPT, [Path(__file__).with_name(SCRIPT).read_text(encoding="utf-8")]


def _put(archive: ZipFile, name: str, lines: Iterable[str]) -> str:
    """Write one file of the zip line by line, and return its SHA-256."""
    digest = sha256()
    info = ZipInfo(name, NO_TIME)
    info.compress_type = ZIP_DEFLATED
    info.external_attr = 0o644 << 16
    with archive.open(info, "w", force_zip64=True) as target:
        for line in lines:
            data = line.encode()
            digest.update(data)
            target.write(data)
    return digest.hexdigest()


def _lines(rows: Iterable[dict[str, Any]]) -> Iterator[str]:
    for row in rows:
        yield json.dumps(row, ensure_ascii=False) + "\n"


def _dictionary(wanted: Wanted) -> str:
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(["file", "field", "meaning"])
    for name, fields in FIELDS.items():
        if name != "texts.jsonl" or wanted.texts:
            writer.writerows([name, field, meaning] for field, meaning in fields.items())
    return table.getvalue()
