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
from scoring.bundle.contents import Contents, Wanted
from scoring.core import normalisation
from scoring.tables.documents import csv_line, escaped_markdown

SUMS = "SHA256SUMS"
SCRIPT = "figures.py"
# Beside the script, which asks it what makes texts alike.
RULES = "normalisation.py"
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


def _lines(rows: Iterable[dict[str, Any]]) -> Iterator[str]:
    for row in rows:
        yield json.dumps(row, ensure_ascii=False) + "\n"


def _dictionary(wanted: Wanted) -> str:
    rows = [
        [name, field, meaning]
        for name, fields in FIELDS.items()
        if name != "texts.jsonl" or wanted.texts
        for field, meaning in fields.items()
    ]
    return "".join(map(csv_line, [["file", "field", "meaning"], *rows]))


def readme(about: Mapping[str, Any]) -> str:
    people = about["people"]
    marked = [
        name
        for name, is_in in (
            ("simulated annotators", about["simulated"]),
            ("excluded assignments", about["with_excluded"]),
        )
        if is_in
    ]
    left = [name for name in ("simulated annotators", "excluded assignments") if name not in marked]
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
        "left_out": " ".join(
            [
                *([f"Marked and included: {' and '.join(marked)}."] if marked else []),
                *([f"Left out: {' and '.join(left)}."] if left else []),
            ]
        ),
        "source": f" ({escaped_markdown(about['benchmark_source'])})"
        if about["benchmark_source"]
        else "",
    }
    return render_to_string("scoring/bundle/readme.txt", words)


FIELDS: dict[str, dict[str, str]] = {
    "tasks.jsonl": {
        "task": "Short name of the task.",
        "kind": "Kind of answer: choice (one label), spans (pieces of the text), candidate, text.",
        "max_spans": "The most pieces that an answer may have; null for any number.",
        "language": "Language of the texts.",
        "reference_policy": "How several references count by default: set (their union) or any.",
        "normalisation": "What answers and references are stripped of before they are compared.",
        "gold_version": "The version of the gold that figures.jsonl is scored against.",
        "description_hash": "SHA-256 of the task description that annotators read.",
        "title": "The title that annotators read (only with texts).",
        "description": "The task description that annotators read (only with texts).",
    },
    "batches.jsonl": {
        "batch": "Number of the batch in this bundle.",
        "task": "The task; see tasks.jsonl.",
        "shots": "Training examples, 0 for none; few for episodes that have any. A cell of the "
        "table is a task with a number of shots.",
        "split": "Which of the shot sets of this size was shown; null where there is none.",
        "chain": "The run of shot sets that truly nest.",
        "episode": "The number of a few-shot episode; null elsewhere.",
        "training_set": "The set that was shown in training; see items.jsonl. Null for zero-shot.",
        "test_set": "The set that was asked in the test; see items.jsonl.",
        "wanted": "How many annotators were wanted.",
        "shown_gold_version": "The version of the gold that annotators were shown in training.",
        "training_checksum": "Checksum of the training set.",
        "test_checksum": "Checksum of the test set.",
    },
    "items.jsonl": {
        "task": "The task; see tasks.jsonl.",
        "set": "Name of the set, as in batches.jsonl.",
        "role": "training or test.",
        "position": "Position in the set; annotators saw an order of their own.",
        "item": "The id that the benchmark's file gives it.",
        "example": "Name of the example: a training example by its content, a test example by id.",
        "content_hash": "SHA-256 of the example's content.",
        "context_hash": "SHA-256 of its context; items that share one are one cluster.",
    },
    "gold.jsonl": {
        "task": "The task; see tasks.jsonl.",
        "example": "The example; see items.jsonl.",
        "version": "The version that brought this gold; it holds until a later one.",
        "alternatives": "The references: a list of alternatives, each a list of texts.",
    },
    "assignments.jsonl": {
        "assignment": "Number of the assignment in this bundle: one person's work on one batch.",
        "batch": "The batch; see batches.jsonl.",
        "annotator": "Pseudonym of the person.",
        "outcome": "completed, screened_out, withdrawn, expired or displaced; empty while open.",
        "excluded": "Whether a researcher excluded it afterwards.",
        "simulated": "Whether a program answered instead of a person.",
        "training_score": "Mean S1 of the first answers in training, in percent.",
        "passed": "Whether the training was passed; null before its end, or without training.",
        "new_resume_link": "Whether a researcher handed out a new personal link.",
        "training_ended_ms": "Milliseconds from the consent to the end of the training.",
        "finished_ms": "Milliseconds from the consent to the end.",
        "paid_ms": "Working time that was counted for pay, with the caps of the study.",
    },
    "judgements.jsonl": {
        "assignment": "The assignment; see assignments.jsonl.",
        "role": "training or test.",
        "step": "Place in this person's own order, from 0.",
        "example": "The example; see items.jsonl.",
        "answer": "The answer: a list of texts, empty for none.",
        "spans": "[segment, start, end] in code points, where pieces of the text were selected.",
        "shown_ms": "Milliseconds from the consent to showing the item, by the server's clock.",
        "submitted_ms": "Milliseconds from the consent to storing the answer.",
        "paid_ms": "Counted for pay, at most the cap for one item.",
        "browser_ms": "Time on the page by the browser's account.",
        "first_action_ms": "Time to the first action by the browser's account.",
        "active_ms": "Active time by the browser's account.",
    },
    "figures.jsonl": {
        "kind": "human, or simulated.",
        "task": "The task; see tasks.jsonl.",
        "shots": "As in batches.jsonl.",
        "references": "How several references count here: set or any.",
        "asked": "What the interval is for: new_items (other items like these) or these_items.",
        "with_excluded": "Whether excluded assignments count.",
        "ci_method": "How the interval was computed; null where there is none.",
        "mean": "Mean S1 in percent, every item counting alike.",
        "sd": "Sample SD over annotators (ddof 1), in points; over episodes with ddof 0.",
        "n": "Annotators.",
        "m": "Clusters of items behind the interval.",
        "ci_low": "Lower limit of the 95 % interval, in percent.",
        "ci_high": "Upper limit of the 95 % interval, in percent.",
        "guard_low": "Lower limit of the guard band of three or four people, in percent.",
        "guard_high": "Upper limit of that band, in percent.",
        "gold_version": "The version of the gold that was scored against.",
        "normalisation": "As in tasks.jsonl.",
    },
    "texts.jsonl": {
        "task": "The task; see tasks.jsonl.",
        "example": "The example; see items.jsonl.",
        "context": "The text, a list of segments.",
        "question": "The question.",
        "candidates": "[segment, start, end] of the marked candidates.",
    },
}
