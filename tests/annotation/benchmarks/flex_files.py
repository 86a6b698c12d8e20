"""FLEX's files, written as its toolkit does: the rows of a challenge and its answer key."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha1
from pathlib import Path
from typing import Any

Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Written:
    """An episode to write: texts with their class numbers."""

    dataset: str = "subj"
    labels: Sequence[str] = ("objective", "subjective")
    training: Sequence[tuple[str, int]] = ()
    test: Sequence[tuple[str, int]] = ()


@dataclass
class Challenge:
    rows: Rows = field(default_factory=list)
    answers: Rows = field(default_factory=list)

    def add(self, episode: Written, task_id: int) -> None:
        common = {
            "task_id": task_id,
            "dataset": episode.dataset,
            "majority_class": "",
            "labels": [str(number) for number in range(len(episode.labels))],
            "text_labels": {
                "keys": list(episode.labels),
                "values": list(range(len(episode.labels))),
            },
            "hashed_id": "",
            "question_id": "",
            "label": "",
        }
        for position, (text, number) in enumerate(episode.training):
            row = {"is_train": True, "label": str(number), "txt": text, "example_id": text}
            self.rows.append(
                {**common, **row, "hashed_id": _hash("train", task_id, position, text)}
            )
        for position, (text, number) in enumerate(episode.test):
            question = _hash("test", task_id, position, text)
            ids = {"question_id": question, "hashed_id": _hash("with-train", task_id, question)}
            row = {"is_train": False, "txt": text, "example_id": text}
            self.rows.append({**common, **row, **ids})
            answer = {"label": str(number), "train_labels": [], "is_distractor": False}
            self.answers.append({**common, **ids, **answer, "probs_subsampled": []})

    @property
    def checksum(self) -> str:
        return sha1(
            "|".join(row["hashed_id"] for row in self.rows if not row["is_train"]).encode()
        ).hexdigest()

    def save(self, folder: Path) -> list[Path]:
        paths = [folder / "challenge.jsonl", folder / "answers.jsonl"]
        for path, rows in zip(paths, (self.rows, self.answers), strict=True):
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return paths


def challenge(*episodes: Written) -> Challenge:
    made = Challenge()
    for task_id, episode in enumerate(episodes):
        made.add(episode, task_id)
    return made


def small() -> Challenge:
    """A zero-shot and a few-shot episode of subj, and one of snli between them; one text of
    subj is asked in the first and shown in the last."""
    return challenge(
        Written(test=[("Rain fell on Monday.", 0), ("A joy from start to end.", 1)]),
        Written(
            dataset="snli",
            labels=["neutral", "entailment", "contradiction"],
            test=[("A dog runs. ### An animal moves.", 1)],
        ),
        Written(
            labels=["subjective", "objective"],
            training=[("A joy from start to end.", 0), ("The film lasts two hours.", 1)],
            test=[("He leaves the town at dawn.", 1)],
        ),
    )


def _hash(*parts: object) -> str:
    return sha1("|".join(map(str, parts)).encode()).hexdigest()
