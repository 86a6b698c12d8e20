"""Writes small benchmarks in CLUES layout."""

import json
from collections.abc import Iterable, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

Row = dict[str, Any]

QUESTION = "good or bad?"


def choice_row(number: int, label: str = "", **fields: Any) -> Row:
    label = label or ("good" if number % 2 else "bad")
    return {
        "id": number,
        "context": f"Review {number}.",
        "question": QUESTION,
        "answer": [label],
        **fields,
    }


def spans_row(number: int, answer: Sequence[object] = ("Anna",), **fields: Any) -> Row:
    return {
        "id": f"q{number}",
        "context": f"Anna and Boris met {number} times.",
        "question": "Who met?",
        "answer": list(answer),
        **fields,
    }


def write_rows(file: Path, rows: Iterable[object]) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return file


def write_task(
    folder: Path,
    test: Sequence[Row] = (),
    shots: Mapping[tuple[int, int], Sequence[Row]] | None = None,
    **task_file: Any,
) -> Path:
    """A task's folder: by default two test rows and one shot set of two rows."""
    write_rows(folder / "x_test.jsonl", test or [choice_row(101), choice_row(102)])
    sets = {(2, 1): [choice_row(1), choice_row(2)]} if shots is None else shots
    for (k, split), rows in sets.items():
        write_rows(folder / f"x_train_{k}_{split}.jsonl", rows)
    if task_file:
        (folder / "task.json").write_text(json.dumps(task_file), encoding="utf-8")
    return folder


def zipped(folder: Path, *, top: str = "") -> BytesIO:
    """The folder's files in an archive, under a top folder if it is named."""
    buffer = BytesIO()
    with ZipFile(buffer, "w", ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, str(Path(top) / path.relative_to(folder)))
    buffer.seek(0)
    return buffer
