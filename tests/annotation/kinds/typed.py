"""A small benchmark of typed answers in CLUES layout, as files."""

import json
from pathlib import Path
from typing import Any

from annotation.benchmarks.importing import import_benchmark
from annotation.models import Task

CONTEXT = "The old bell of Marrowby was cast in 1702 by Ann Thorne."
# By question, its accepted answers; the last one has none.
GOLD = {
    "Who cast the bell?": ["Ann Thorne", "The founder Ann Thorne"],
    "When was it cast?": ["1702"],
    "Where does it hang?": ["Marrowby"],
    "Which town is named?": ["Marrowby"],
    "Who broke it?": [],
}
DESCRIPTION = "Read the text and type a short answer."


def rows(prefix: str, count: int) -> list[dict[str, Any]]:
    return [
        {
            "id": f"{prefix}{number}",
            "context": f"{prefix} {CONTEXT}",
            "question": question,
            "answer": [{"text": text} for text in texts],
        }
        for number, (question, texts) in enumerate(list(GOLD.items())[:count])
    ]


def write(root: Path, *, test: list[dict[str, Any]] | None = None, **fields: Any) -> Path:
    """The folder of a benchmark with one task; `fields` are those of its task file."""
    folder = root / "Typed"
    folder.mkdir(parents=True)
    about = {"kind": "text", "description": DESCRIPTION, **fields}
    (folder / "task.json").write_text(json.dumps(about))
    sets = {"train_2_1": rows("Training", 2), "test": test or rows("Test", len(GOLD))}
    for name, items in sets.items():
        lines = "".join(json.dumps(row) + "\n" for row in items)
        (folder / f"typed_{name}.jsonl").write_text(lines)
    return root


def imported(root: Path, name: str = "typed", **fields: Any) -> Task:
    import_benchmark(write(root, **fields), name=name)
    return Task.objects.get(benchmark__name=name)
