"""What people and systems answered, item by item with its score, in the Every Eval Ever format
0.3.0: one schema for both.

An evaluation (one run, or one person on one test set) is two files: its record, and beside it its
samples, one JSON object per line. Both are named by a UUID that follows from their content, so the
same rows give the same files.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache, cached_property, partial
from hashlib import sha256
from typing import IO, Any
from uuid import UUID
from zipfile import ZIP_DEFLATED, ZipFile

from annotation.jobs import files, queue
from annotation.kinds import answer_kind, in_full
from annotation.kinds.base import asked
from annotation.models import Assignment, Example, ItemSet, Job, Judgement
from scoring.cells.cells import Cell, CellReader, Vector
from scoring.cells.rows import RowKind
from scoring.cells.scope import Choices, Scope, ordered
from scoring.core.s1 import SCORER_VERSION
from scoring.models import Prediction, Run

JOB = "export_samples"
PIECE_BYTES = 1_000_000
SCHEMA_VERSION = "0.3.0"
LIBRARY = "Baseliner"
METRIC = "clues.s1"
# The format requires a developer; where none is named, this says so.
NO_DEVELOPER = "unspecified"
# Of file names: what a system forbids, and what shows another name than there is.
UNSAFE = re.compile(r'[<>:"/\\|?*\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]')

Record = dict[str, Any]
# By example, with what it offers to choose from.
Asked = Mapping[int, tuple[Example, Sequence[str]]]


@dataclass(frozen=True)
class Evaluation:
    cell: Cell
    vector: Vector
    asked: Asked
    organization: str
    test_set: ItemSet
    # By example; of people with the latency by the server's clock, and further details.
    answers: Mapping[int, Mapping[str, Any]]
    # Unique in the installation, such as run-7.
    key: str
    # As developer/model, or the model alone.
    model_id: str
    model_name: str
    stored_at: datetime
    # When a system ran is not known here.
    evaluated_at: datetime | None
    split: int | None
    # What else is known of the answers.
    about: Mapping[str, str]

    @property
    def task(self) -> str:
        return str(self.cell.task.slug)

    @property
    def evaluation_id(self) -> str:
        name = f"{self.cell.task.benchmark.name}.{self.task}.{self.key}"
        return f"{name}/{self.model_id}/{int(self.stored_at.timestamp())}"

    @property
    def result_id(self) -> str:
        return f"{self.evaluation_id}#s1"

    @property
    def parameters(self) -> Record:
        """What the score depends on."""
        return {
            "shots": self.cell.shots,
            "split": self.split,
            "episode": self.test_set.episode,
            "references": self.cell.references,
            "normalisation": self.cell.task.normalisation,
            "gold_version": self.cell.gold_version,
        }

    @cached_property
    def samples(self) -> list[Record]:
        """The samples in the order of the test set, without the items that have no answer."""
        items, scores = self.vector.items, self.vector.scores
        rows = zip(items.example_ids, items.source_ids, items.golds, scores, strict=True)
        return [
            _sample(self, source_id, self.asked[pk], golds, float(score), self.answers[pk])
            for pk, source_id, golds, score in rows
            if pk in self.answers
        ]


def evaluations(
    scope: Scope, choices: Choices, *, organization: str = "unknown"
) -> Iterator[Evaluation]:
    """One for each counted annotator of each cell, then one for each complete run; none for those
    who answered nothing. Simulated annotators only if the choices ask for them."""
    asked_in = cache(_asked)
    for cell in _cells(scope, choices):
        members: Sequence[Assignment | Run] = cell.members
        for member, vector in zip(members, cell.vectors, strict=True):
            about = _of_person(cell, member) if isinstance(member, Assignment) else _of_run(member)
            asked = asked_in(about["test_set"])
            evaluation = Evaluation(cell, vector, asked, organization, **about)
            if evaluation.samples:
                yield evaluation


def _cells(scope: Scope, choices: Choices) -> Iterator[Cell]:
    reader = CellReader(choices)
    for study in scope.studies:
        for simulated in reader.kinds_of(study):
            yield from reader.people(study, simulated=simulated)
    for task in scope.tasks:
        yield from reader.systems(task)


def _of_person(cell: Cell, member: Assignment) -> dict[str, Any]:
    kind = str(cell.kind)
    pseudonym = member.annotator.pseudonym
    about = {"kind": kind, "study": cell.study.slug if cell.study else "", "annotator": pseudonym}
    if hasattr(member, "exclusion"):
        about["excluded"] = "true"
    # Of how people from elsewhere worked at most the time is known.
    is_here = cell.kind != RowKind.ELSEWHERE
    answers = {
        given.example_id: {
            "answer": given.answer,
            "latency_ms": latency if latency or is_here else None,
            "details": {"step": str(given.step), "paid_ms": str(given.paid_ms)} if is_here else {},
        }
        for given in Judgement.objects.of_test().filter(assignment=member)
        for latency in [round(1000 * (given.submitted_at - given.shown_at).total_seconds())]
    }
    return {
        "test_set": member.batch.test_set,
        "answers": answers,
        "key": f"assignment-{member.pk}",
        "model_id": f"{kind}/{pseudonym}",
        "model_name": f"{kind.capitalize()} annotator {pseudonym}",
        "stored_at": member.finished_at or member.joined_at,
        "evaluated_at": member.finished_at if is_here else None,
        "split": member.batch.split,
        "about": about,
    }


def _of_run(run: Run) -> dict[str, Any]:
    predictions = Prediction.objects.filter(run=run).values_list("example_id", "answer")
    about = {
        "kind": "run",
        **{name: getattr(run, name) for name in ("method", "parameters", "citation", "url")},
        "external_labelled": _told(run.uses_labelled),
        "external_unlabelled": _told(run.uses_unlabelled),
        "protocol": " ".join(run.protocol),
        "run_checksum": run.checksum,
        "repeat": "" if run.repeat is None else str(run.repeat),
    }
    return {
        "test_set": run.test_set,
        "answers": {pk: {"answer": answer} for pk, answer in predictions},
        "key": f"run-{run.pk}",
        "model_id": run.system,
        "model_name": run.system,
        "stored_at": run.created_at,
        "evaluated_at": None,
        "split": run.split,
        "about": {key: value for key, value in about.items() if value},
    }


def _asked(test_set: ItemSet) -> Asked:
    kind = answer_kind(test_set.task.kind)
    return {
        example.pk: (example, kind.options_as_read(asked(example, test_set.choices)))
        for example in test_set.examples.select_related("task")
    }


def _told(flag: bool | None) -> str:
    return "" if flag is None else str(flag).lower()


def files_of(evaluation: Evaluation) -> dict[str, bytes]:
    samples = samples_file(evaluation)
    uuid = UUID(bytes=sha256(samples).digest()[:16], version=4)
    stem = "/".join(["data", *_folders(evaluation), str(uuid)])
    log = _log(evaluation, f"{stem}_samples.jsonl", samples)
    text = json.dumps(log, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
    return {f"{stem}.json": text.encode(), f"{stem}_samples.jsonl": samples}


def samples_file(evaluation: Evaluation) -> bytes:
    lines = (json.dumps(s, ensure_ascii=False, allow_nan=False) + "\n" for s in evaluation.samples)
    return "".join(lines).encode()


def _sample(
    evaluation: Evaluation,
    source_id: str,
    asked: tuple[Example, Sequence[str]],
    alternatives: Sequence[Sequence[str]],
    score: float,
    response: Mapping[str, Any],
) -> Record:
    example, choices = asked
    raw = "\n".join([*example.context, example.question])
    benchmark = evaluation.cell.task.benchmark
    # Options of its own are texts of the item: where those stay, their numbers tell.
    read = list if benchmark.keeps_texts else partial(in_full, example=example)
    alternatives = [read(texts) for texts in alternatives]
    reference = list(dict.fromkeys(text for texts in alternatives for text in texts))
    answer = answer_kind(evaluation.cell.task.kind).as_text(read(response["answer"]))
    latency = response.get("latency_ms")
    return {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": evaluation.evaluation_id,
        "model_id": evaluation.model_id,
        "evaluation_name": evaluation.task,
        "evaluation_result_id": evaluation.result_id,
        "sample_id": source_id,
        # What was asked and what was expected, whoever answered it.
        "sample_hash": sha256((raw + "".join(reference)).encode()).hexdigest(),
        "interaction_type": "single_turn",
        "input": {
            "raw": "" if benchmark.keeps_texts else raw,
            "reference": reference,
            "choices": None if benchmark.keeps_texts else list(choices) or None,
        },
        "output": {"raw": [answer]},
        "answer_attribution": [
            {
                "turn_idx": 0,
                "source": "output.raw",
                "extracted_value": answer,
                "extraction_method": "none",
                "is_terminal": True,
            }
        ],
        "evaluation": {"score": score, "is_correct": score == 1},
        "performance": None if latency is None else {"latency_ms": latency},
        "metadata": {
            **_metadata(evaluation, alternatives),
            **evaluation.about,
            **response.get("details", {}),
        },
    }


def _metadata(evaluation: Evaluation, alternatives: Sequence[Sequence[str]]) -> dict[str, str]:
    known = {key: str(value) for key, value in evaluation.parameters.items() if value is not None}
    if canary := evaluation.cell.task.benchmark.canary:
        known["canary"] = canary
    if len(alternatives) > 1:
        known["alternatives"] = json.dumps(alternatives, ensure_ascii=False)
    return known


def _log(evaluation: Evaluation, samples_path: str, samples: bytes) -> Record:
    unknown = {"deployment_type": "unknown", "model_availability": "unknown"}
    info: Record = {"name": evaluation.model_name, "id": evaluation.model_id}
    if "/" not in evaluation.model_id:
        info["developer"] = NO_DEVELOPER
    info["additional_details"] = {**unknown, **evaluation.about}
    record: Record = {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": evaluation.evaluation_id,
        "retrieved_timestamp": str(int(evaluation.stored_at.timestamp())),
        "source_metadata": {
            "source_name": LIBRARY,
            "source_type": "evaluation_run",
            "source_organization_name": evaluation.organization,
            "evaluator_relationship": "other",
        },
        "eval_library": {
            "name": LIBRARY,
            "version": "unknown",
            "additional_details": {"scorer_version": str(SCORER_VERSION)},
        },
        "model_info": info,
        "evaluation_results": [_result(evaluation)],
        "detailed_evaluation_results": {
            "format": "jsonl",
            "file_path": samples_path,
            "hash_algorithm": "sha256",
            "checksum": sha256(samples).hexdigest(),
            "total_rows": len(evaluation.samples),
        },
    }
    if evaluation.evaluated_at:
        record["evaluation_timestamp"] = str(int(evaluation.evaluated_at.timestamp()))
    return record


def _result(evaluation: Evaluation) -> Record:
    benchmark, scores = evaluation.cell.task.benchmark, evaluation.samples
    return {
        "evaluation_result_id": evaluation.result_id,
        "evaluation_name": evaluation.task,
        "source_data": {
            "dataset_name": f"{benchmark.name}/{evaluation.task}",
            "source_type": "other",
            "additional_details": {
                "item_set": evaluation.test_set.name,
                "item_set_checksum": evaluation.test_set.checksum,
                **({"source": benchmark.source} if benchmark.source else {}),
            },
        },
        "metric_config": {
            "evaluation_description": "Mean over the items of the S1 of CLUES (NeurIPS 2021), "
            "equation 1: F1 of the predicted and the expected set of texts, by exact match "
            "after the normalisation that metric_parameters names.",
            "metric_id": METRIC,
            "metric_name": "S1",
            "metric_kind": "f1",
            "metric_unit": "proportion",
            "metric_parameters": evaluation.parameters,
            "lower_is_better": False,
            "score_type": "continuous",
            "min_score": 0,
            "max_score": 1,
        },
        "score_details": {
            "score": sum(s["evaluation"]["score"] for s in scores) / len(scores),
            "details": {
                "items": str(len(evaluation.vector.items)),
                "items_answered": str(len(scores)),
            },
        },
    }


def _folders(evaluation: Evaluation) -> list[str]:
    developer, _, model = evaluation.model_id.rpartition("/")
    names = (evaluation.cell.task.benchmark.name, developer or NO_DEVELOPER, model)
    return [UNSAFE.sub("_", name).rstrip(". ") or "_" for name in names]


def packed(evaluations: Iterable[Evaluation]) -> IO[bytes]:
    """Pack evaluations on disk: runs can have a million answers."""

    def pack(file: IO[bytes]) -> None:
        with ZipFile(file, "w", ZIP_DEFLATED) as archive:
            for evaluation in evaluations:
                for path, content in files_of(evaluation).items():
                    archive.writestr(path, content)

    return files.on_disk(pack)


def archive_name(name: str) -> str:
    return f"every-eval-ever-{name}.zip"


@queue.runs(JOB)
def pack_samples(job: Job, progress: queue.Progress) -> queue.Result:
    """Arguments: study or benchmark, its id, and choices."""
    scope, choices = ordered(job)

    def told() -> Iterator[Evaluation]:
        for number, evaluation in enumerate(evaluations(scope, choices)):
            progress(number, 0, evaluation.task)
            yield evaluation

    with packed(told()) as archive:
        pieces = iter(lambda: archive.read(PIECE_BYTES), b"")
        return files.keep(job, archive_name(scope.name), pieces)
