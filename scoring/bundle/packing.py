"""Writing a bundle: one zip, file after file, never in memory as a whole. The same data give the
same bytes."""

import json
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import IO, Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from django.contrib.auth.models import User
from django.template.loader import render_to_string

from annotation.models import ChangeAction, Study
from annotation.models.access import record
from annotation.models.errors import NotReady
from scoring.bundle.contents import Contents
from scoring.core import normalisation
from scoring.tables.documents import csv_line, escaped_markdown

SUMS = "SHA256SUMS"
SCRIPT = "figures.py"
# Beside the script, which asks it what makes texts alike.
RULES = "normalisation.py"
# The moment of packing would make every bundle another one.
NO_TIME = (1980, 1, 1, 0, 0, 0)


def export_bundle(
    study: Study,
    file: IO[bytes],
    *,
    by: User | None = None,
    texts: bool = False,
    simulated: bool = False,
    with_excluded: bool = False,
) -> str:
    """Write the bundle of a study that has started, and log it. Returns its checksum, which
    vouches for every file: published elsewhere, it shows that nothing was changed since."""
    if not study.is_frozen:
        raise NotReady(f"The study {study.slug} has not started: there is nothing to pack yet.")
    contents = Contents(study, texts=texts, simulated=simulated, with_excluded=with_excluded)
    sums: dict[str, str] = {}
    with ZipFile(file, "w", ZIP_DEFLATED) as archive:
        for name, lines in _files(contents):
            sums[name] = _put(archive, name, lines)
        listed = "".join(f"{digest}  {name}\n" for name, digest in sorted(sums.items()))
        checksum = _put(archive, SUMS, [listed])
    record(by, study, ChangeAction.BUNDLE_EXPORTED, {}, {"bundle": checksum})
    return checksum


def _files(contents: Contents) -> Iterator[tuple[str, Iterable[str]]]:
    told = contents.about()
    yield "README.md", [readme(told)]
    yield "study.json", [json.dumps(told, indent=2, ensure_ascii=False) + "\n"]
    for name in contents.files:
        rows = contents.rows(name)
        yield name, (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    meanings = [
        [name, field, about if isinstance(about, str) else about[0]]
        for name, columns in contents.files.items()
        for field, about in columns.items()
    ]
    yield "dictionary.csv", map(csv_line, [["file", "field", "meaning"], *meanings])
    yield SCRIPT, [Path(__file__).with_name(SCRIPT).read_text(encoding="utf-8")]
    yield RULES, [Path(normalisation.__file__).read_text(encoding="utf-8")]


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


def readme(about: Mapping[str, Any]) -> str:
    people = about["people"]
    kinds = {"simulated annotators": "simulated", "excluded assignments": "with_excluded"}
    marked = [name for name, key in kinds.items() if about[key]]
    left = [name for name in kinds if name not in marked]
    held = [f"Marked and included: {' and '.join(marked)}."] if marked else []
    held += [f"Left out: {' and '.join(left)}."] if left else []
    words = {
        "title": escaped_markdown(about["title"]),
        "study": escaped_markdown(about["study"]),
        "benchmark": escaped_markdown(about["benchmark"]),
        "version": about["version"],
        "people": f"{people} {'person' if people == 1 else 'people'}",
        "state": "" if about["state"] == "closed" else "; it had not ended when this was packed",
        "texts": "The texts are in `texts.jsonl`."
        if about["texts"]
        else "The texts themselves are not here: examples are named by hashes of their content.",
        "left_out": " ".join(held),
        "source": f" ({escaped_markdown(about['benchmark_source'])})"
        if about["benchmark_source"]
        else "",
    }
    return render_to_string("scoring/bundle/readme.txt", words)
