"""The Every Eval Ever format 0.3.0: one schema for what systems and people answered.

An evaluation (one run, or one person on one test set) is two files: its record, and beside it its
samples, one JSON object per line. Both are named by a UUID that follows from their content, so the
same rows give the same files.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from uuid import UUID

from annotation.kinds import answer_kind

SCHEMA_VERSION = "0.3.0"
LIBRARY = "Baseliner"
METRIC = "clues.s1"
# The kind of annotator, in every sample's `metadata`; a run's is "run".
HUMAN, SIMULATED = "human", "simulated"
# The format requires a developer; where none is named, this says so.
NO_DEVELOPER = "unspecified"
# What some file system refuses in a name.
# Of file names: what a system forbids, and what shows another name than there is.
UNSAFE = re.compile(r'[<>:"/\\|?*\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]')

Record = dict[str, object]


@dataclass(frozen=True)
class Sample:
    """One answer to one item."""

    source_id: str
    context: tuple[str, ...]
    question: str
    choices: tuple[str, ...]
    alternatives: tuple[tuple[str, ...], ...]
    answer: tuple[str, ...]
    score: float
    # Of people, by the server's clock.
    latency_ms: int | None = None
    details: Mapping[str, str] | None = None


@dataclass(frozen=True)
class Evaluation:
    """The answers of one run, or of one person, to one test set."""

    # Unique in the installation, such as run-7.
    key: str
    benchmark: str
    task: str
    kind: str
    # As developer/model, or the model alone.
    model_id: str
    model_name: str
    organization: str
    stored_at: datetime
    evaluated_at: datetime | None
    scorer_version: int
    # What the score depends on, and what else is known of the answers and the data.
    parameters: Mapping[str, str | int | None]
    about: Mapping[str, str]
    data: Mapping[str, str]
    items: int
    samples: tuple[Sample, ...]

    @property
    def evaluation_id(self) -> str:
        name = f"{self.benchmark}.{self.task}.{self.key}"
        return f"{name}/{self.model_id}/{int(self.stored_at.timestamp())}"

    @property
    def result_id(self) -> str:
        return f"{self.evaluation_id}#s1"

    @property
    def mean(self) -> float:
        return sum(sample.score for sample in self.samples) / len(self.samples)


def files(evaluation: Evaluation) -> dict[str, bytes]:
    """The two files of an evaluation that has samples, by their paths."""
    samples = samples_file(evaluation)
    uuid = UUID(bytes=sha256(samples).digest()[:16], version=4)
    stem = "/".join(["data", *_folders(evaluation), str(uuid)])
    log = log_record(evaluation, f"{stem}_samples.jsonl", samples)
    text = json.dumps(log, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
    return {f"{stem}.json": text.encode(), f"{stem}_samples.jsonl": samples}


def samples_file(evaluation: Evaluation) -> bytes:
    records = (sample_record(sample, evaluation) for sample in evaluation.samples)
    lines = (json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n" for record in records)
    return "".join(lines).encode()


def sample_record(sample: Sample, evaluation: Evaluation) -> Record:
    raw = "\n".join([*sample.context, sample.question])
    reference = list(dict.fromkeys(text for texts in sample.alternatives for text in texts))
    answer = answer_kind(evaluation.kind).as_text(sample.answer)
    return {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": evaluation.evaluation_id,
        "model_id": evaluation.model_id,
        "evaluation_name": evaluation.task,
        "evaluation_result_id": evaluation.result_id,
        "sample_id": sample.source_id,
        "sample_hash": sample_hash(raw, reference),
        "interaction_type": "single_turn",
        "input": {"raw": raw, "reference": reference, "choices": list(sample.choices) or None},
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
        "evaluation": {"score": sample.score, "is_correct": sample.score == 1},
        "performance": None if sample.latency_ms is None else {"latency_ms": sample.latency_ms},
        "metadata": _details(sample, evaluation),
    }


def sample_hash(raw: str, reference: Sequence[str]) -> str:
    """Identifies a sample by what was asked and what was expected, whoever answered it."""
    return sha256((raw + "".join(reference)).encode()).hexdigest()


def log_record(evaluation: Evaluation, samples_path: str, samples: bytes) -> Record:
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
            "additional_details": {"scorer_version": str(evaluation.scorer_version)},
        },
        "model_info": _model_info(evaluation),
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


def _model_info(evaluation: Evaluation) -> Record:
    info: Record = {"name": evaluation.model_name, "id": evaluation.model_id}
    if "/" not in evaluation.model_id:
        info["developer"] = NO_DEVELOPER
    unknown = {"deployment_type": "unknown", "model_availability": "unknown"}
    return {**info, "additional_details": {**unknown, **evaluation.about}}


def _result(evaluation: Evaluation) -> Record:
    return {
        "evaluation_result_id": evaluation.result_id,
        "evaluation_name": evaluation.task,
        "source_data": {
            "dataset_name": f"{evaluation.benchmark}/{evaluation.task}",
            "source_type": "other",
            "additional_details": dict(evaluation.data),
        },
        "metric_config": {
            "evaluation_description": "Mean over the items of the S1 of CLUES (NeurIPS 2021), "
            "equation 1: F1 of the predicted and the expected set of texts, by exact match "
            "after the normalisation that metric_parameters names.",
            "metric_id": METRIC,
            "metric_name": "S1",
            "metric_kind": "f1",
            "metric_unit": "proportion",
            "metric_parameters": dict(evaluation.parameters),
            "lower_is_better": False,
            "score_type": "continuous",
            "min_score": 0,
            "max_score": 1,
        },
        "score_details": {
            "score": evaluation.mean,
            "details": {
                "items": str(evaluation.items),
                "items_answered": str(len(evaluation.samples)),
            },
        },
    }


def _details(sample: Sample, evaluation: Evaluation) -> dict[str, str]:
    told = {key: str(value) for key, value in evaluation.parameters.items() if value is not None}
    if len(sample.alternatives) > 1:
        told["alternatives"] = json.dumps(sample.alternatives, ensure_ascii=False)
    return {**told, **evaluation.about, **(sample.details or {})}


def _folders(evaluation: Evaluation) -> list[str]:
    developer, _, model = evaluation.model_id.rpartition("/")
    names = (evaluation.benchmark, developer or NO_DEVELOPER, model)
    return [UNSAFE.sub("_", name).rstrip(". ") or "_" for name in names]
