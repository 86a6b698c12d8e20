"""Writing a bundle and checking one: every file as it was packed, and the figures as they follow
from the answers.

One zip, file after file, never in memory as a whole; the same data give the same bytes. A bundle
comes from somebody else: nothing in it is run or written to disk. The figures are computed by this
program's own copy of the script.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from types import NoneType
from typing import IO, Any, NamedTuple
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from django.contrib.auth.models import User
from django.db.models import CharField
from django.template.loader import render_to_string

from annotation.benchmarks.archives import Files, Source, open_files
from annotation.benchmarks.formats.content import check_storable, json_type, read_json
from annotation.models import ChangeAction, Study
from annotation.models.access import record
from annotation.models.errors import BadInput, NotReady
from scoring.bundle.contents import FILES, FORMAT, TEXTS, VERSION, Contents
from scoring.bundle.figures import CLOSE, distance, rebuilt
from scoring.core import normalisation
from scoring.core.intervals import ESTIMANDS
from scoring.core.s1 import REFERENCE_POLICIES
from scoring.models import ImportedStudy
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
    tell: Callable[[], None] = lambda: None,
    texts: bool = False,
    simulated: bool = False,
    with_excluded: bool = False,
) -> str:
    """Write the bundle of a study that has started, and log it. Returns its checksum, which
    vouches for every file: published elsewhere, it shows that nothing was changed since."""
    check_packable(study, texts=texts)
    contents = Contents(study, texts=texts, simulated=simulated, with_excluded=with_excluded)
    sums: dict[str, str] = {}
    with ZipFile(file, "w", ZIP_DEFLATED) as archive:
        for name, lines in _files(contents):
            tell()
            sums[name] = _put(archive, name, lines)
        listed = "".join(f"{digest}  {name}\n" for name, digest in sorted(sums.items()))
        checksum = _put(archive, SUMS, [listed])
    record(by, study, ChangeAction.BUNDLE_EXPORTED, {}, {"bundle": checksum})
    return checksum


def check_packable(study: Study, *, texts: bool) -> None:
    """Raises NotReady, or Refusal where others asked, or where the benchmark keeps its texts."""
    if not study.is_frozen:
        raise NotReady(f"The study {study.slug} has not started: there is nothing to pack yet.")
    study.check_asked_here()
    if texts:
        study.benchmark.check_texts_may_leave()


def _files(contents: Contents) -> Iterator[tuple[str, Iterable[str]]]:
    facts = contents.about()
    yield "README.md", [readme(facts)]
    yield "study.json", [json.dumps(facts, indent=2, ensure_ascii=False) + "\n"]
    for name in contents.files:
        rows: Iterable[dict[str, Any]] = contents.rows(name)
        if name == TEXTS:
            rows = contents.study.benchmark.headed(rows)
        yield name, (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    meanings = [
        [name, field, about.meaning]
        for name, columns in contents.files.items()
        for field, about in columns.items()
    ]
    yield "dictionary.csv", map(csv_line, [["file", "field", "meaning"], *meanings])
    yield SCRIPT, [Path(__file__).with_name(SCRIPT).read_text(encoding="utf-8")]
    yield RULES, [Path(normalisation.__file__).read_text(encoding="utf-8")]


def _put(archive: ZipFile, name: str, lines: Iterable[str]) -> str:
    """Returns its SHA-256."""
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
    parts = [f"Marked and included: {' and '.join(marked)}."] if marked else []
    parts += [f"Left out: {' and '.join(left)}."] if left else []
    source = escaped_markdown(about["benchmark_source"] or "")
    words = {
        **{name: escaped_markdown(about[name]) for name in NAMED},
        "version": about["version"],
        "people": f"{people} {'person' if people == 1 else 'people'}",
        "state": "" if about["state"] == "closed" else "; it had not ended when this was packed",
        "texts": "The texts are in `texts.jsonl`."
        if about["texts"]
        else "The texts themselves are not here: examples are named by hashes of their content.",
        "left_out": " ".join(parts),
        "source": f" ({source})" if source else "",
    }
    return render_to_string("scoring/bundle/readme.txt", words)


# What computing raises where rows are not what a bundle holds.
MALFORMED = (
    *(KeyError, IndexError, TypeError, AttributeError),
    *(ValueError, ArithmeticError, RuntimeError),
)
# What a study is called there.
NAMED = ("study", "title", "benchmark")
NEEDED = ("README.md", "study.json", "dictionary.csv", SCRIPT, RULES)
# What is stored of a bundle, and shown on a page.
STORED = ("study.json", "figures.jsonl")
MOST_STORED = 5_000_000
LONGEST_NAME = 200
FIELDS = ("checksum", "slug", "title", "benchmark", "about", "figures")
# What a figure is of: these texts, or values of these types.
FIGURE: dict[str, tuple[Any, ...]] = {
    "kind": ("human", "simulated"),
    "task": (str,),
    "shots": (int, str, NoneType),
    "pool": (str, NoneType),
    "references": REFERENCE_POLICIES,
    "asked": ESTIMANDS,
    "with_excluded": (bool,),
    "gold_version": (int, NoneType),
}


class Limits(NamedTuple):
    """The limits of a bundle that is checked for somebody on a page."""

    rows: int = 500_000
    # People × items, of all batches together.
    scores: int = 4_000_000
    seconds: int = 120
    megabytes: int = 1_000


def verify_bundle(
    source: Source, *, checksum: str = "", limits: Limits | None = None
) -> ImportedStudy:
    """Verify a bundle without storing it. Raises BadInput with what was changed, is missing, or
    does not follow."""
    with open_files(source) as files:
        actual = _check_files(files)
        if checksum and checksum != actual:
            raise BadInput(
                f"This is another bundle than the published one: its checksum is {actual}."
            )
        about = _read_about(files)
        figures = list(_read(files, "figures.jsonl"))
        for number, figure in enumerate(figures, start=1):
            _check_figure(figure, f"figures.jsonl, row {number}")
        try:
            if limits:
                _check_size(files, limits)
            _check_figures(files, figures)
        except MALFORMED as error:
            said = f"{type(error).__name__}: {error}"[:200]
            if isinstance(error, KeyError):
                said = f"{error}"[:100] + " is missing"
            raise BadInput(f"The files of the bundle do not fit together ({said}).") from error
    slug, title, benchmark = (about[name] for name in NAMED)
    return ImportedStudy(
        checksum=actual, slug=slug, title=title, benchmark=benchmark, about=about, figures=figures
    )


def _check_figure(figure: Mapping[str, Any], where: str) -> None:
    for name, allowed in FIGURE.items():
        value = figure.get(name)
        if type(value) not in allowed and value not in allowed:
            raise BadInput(f"{where}: “{name}” is {str(value)[:80]!r}, which no figure is of.")


def _check_size(files: Files, limits: Limits) -> None:
    rows = sum(files.read(name).count(b"\n") for name in files.names if name in FILES)
    if rows > limits.rows:
        raise BadInput(f"The bundle has {rows:,} rows; at most {limits.rows:,} are checked.")
    items = Counter((row["task"], row["set"]) for row in _read(files, "items.jsonl"))
    sizes = {
        row["batch"]: items[row["task"], row["test_set"]] for row in _read(files, "batches.jsonl")
    }
    scores = sum(sizes[row["batch"]] for row in _read(files, "assignments.jsonl"))
    if scores > limits.scores:
        raise BadInput(
            f"The bundle has {scores:,} people × items; at most {limits.scores:,} are checked."
        )


def _check_files(files: Files) -> str:
    """Compare with SHA256SUMS, in both directions. Returns the checksum of that file itself."""
    if SUMS not in files.names:
        raise BadInput(f"This is no study bundle: it has no file {SUMS}.")
    listed = files.read(SUMS)
    try:
        lines = [line.split("  ", 1) for line in listed.decode().splitlines()]
        sums = {name: digest for digest, name in lines}
    except ValueError as error:
        raise BadInput(
            f"The file {SUMS} cannot be read: each line has a checksum and a name."
        ) from error
    for name in (*NEEDED, *(name for name in FILES if name != TEXTS)):
        if name not in sums:
            raise BadInput(f"The file {name} is not listed in the bundle.")
    for name, digest in sums.items():
        if name not in files.names:
            raise BadInput(f"The file {name} is missing from the bundle.")
        if sha256(files.read(name)).hexdigest() != digest:
            raise BadInput(f"The file {name} was changed after the bundle was packed.")
    if added := sorted(set(files.names) - {*sums, SUMS}):
        raise BadInput(f"The file {added[0]} was added after the bundle was packed.")
    return sha256(listed).hexdigest()


def _read_about(files: Files) -> dict[str, Any]:
    if any(len(files.read(name)) > MOST_STORED for name in STORED):
        raise BadInput(f"{' and '.join(STORED)} may hold {MOST_STORED // 1_000_000} MB each.")
    about = _checked(files.read("study.json"), "study.json")
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        raise BadInput("The file study.json does not describe a study bundle.")
    if about.get("version") != VERSION:
        raise BadInput(
            f"The bundle has the format {about.get('version')}; this version reads {VERSION}."
        )
    for name, column in zip(NAMED, FIELDS[1:4], strict=True):
        field, text = ImportedStudy._meta.get_field(column), about.get(name)
        assert isinstance(field, CharField)
        if not isinstance(text, str) or not 0 < len(text) <= (field.max_length or 0):
            raise BadInput(
                f"study.json: “{name}” must be a text of at most {field.max_length} characters."
            )
    return about


def _check_figures(files: Files, figures: list[dict[str, Any]]) -> None:
    computed = rebuilt(lambda name: _read(files, name))
    for ours, theirs in zip(computed, figures, strict=True):
        if not distance(ours, theirs) <= CLOSE:
            raise BadInput(
                "The figure of {task} with {shots} shots ({references}, {asked}) does not follow "
                "from the answers and the gold.".format(**theirs)
            )


def _read(files: Files, name: str) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(files.read(name).split(b"\n"), start=1):
        if line.strip():
            row = _checked(line, name, number)
            if not isinstance(row, dict):
                raise BadInput(f"{name}, line {number}: this is {json_type(row)}, not an object.")
            if len(str(row.get("annotator", ""))) > LONGEST_NAME:
                raise BadInput(
                    f"{name}, line {number}: “annotator” may have {LONGEST_NAME} characters."
                )
            yield row


def _checked(data: bytes, name: str, line: int = 0) -> Any:
    document = read_json(data, name, line)
    check_storable(document, f"{name}, line {line}" if line else name)
    return document


def store(study: ImportedStudy, *, owner: User | None) -> tuple[ImportedStudy, bool]:
    """The study, and whether it is new: the same bundle twice is one. It becomes a row of its own
    and nothing else: its people hold no exposure here, and nothing of it can mix with what was
    measured here."""
    return ImportedStudy.objects.get_or_create(
        owner=owner,
        checksum=study.checksum,
        defaults={name: getattr(study, name) for name in FIELDS},
    )
