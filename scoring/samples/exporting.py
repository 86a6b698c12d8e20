"""Exporting samples: what people and systems answered, item by item, with its score."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import IO, Any
from zipfile import ZIP_DEFLATED, ZipFile

from annotation.jobs.files import on_disk
from annotation.kinds import answer_kind, asked
from annotation.models import Assignment, ItemSet, Judgement
from scoring.cells.cells import Cell, CellReader, Vector
from scoring.cells.scope import Choices, Scope
from scoring.core.s1 import SCORER_VERSION
from scoring.models import Prediction, Run
from scoring.samples.every_eval_ever import HUMAN, SIMULATED, Evaluation, Sample, files

# By example: its context, question and choices.
Asked = Mapping[int, tuple[list[str], str, Sequence[str]]]


def evaluations(
    scope: Scope, choices: Choices, *, organization: str = "unknown"
) -> Iterator[Evaluation]:
    """One for each counted annotator of each cell, then one for each complete run; none for those
    who answered nothing. Simulated annotators only if the choices ask for them."""
    reader = CellReader(choices)
    asked_in = cache(_asked)
    for study in scope.studies:
        kinds = [False, True] if choices.simulated else [False]
        for cell in (person for kind in kinds for person in reader.people(study, simulated=kind)):
            for member, vector in zip(cell.annotators, cell.vectors, strict=True):
                made = _of_person(cell, member, vector, asked_in(member.batch.test_set))
                yield from _with_samples(replace(made, organization=organization))
    for task in scope.tasks:
        for cell in reader.systems(task):
            for run, vector in zip(cell.runs, cell.vectors, strict=True):
                made = _of_run(cell, run, vector, asked_in(run.test_set))
                yield from _with_samples(replace(made, organization=organization))


def _with_samples(evaluation: Evaluation) -> Iterator[Evaluation]:
    if evaluation.samples:
        yield evaluation


def _of_person(cell: Cell, member: Assignment, vector: Vector, asked: Asked) -> Evaluation:
    kind = SIMULATED if cell.simulated else HUMAN
    pseudonym = member.annotator.pseudonym
    study = cell.study.slug if cell.study else ""
    about = {"kind": kind, "study": study, "annotator": pseudonym}
    if hasattr(member, "exclusion"):
        about["excluded"] = "true"
    judgements = Judgement.objects.of_test().filter(assignment=member)
    answers = {
        judgement.example_id: {
            "answer": judgement.answer,
            "latency_ms": round(
                1000 * (judgement.submitted_at - judgement.shown_at).total_seconds()
            ),
            "details": {"step": str(judgement.step), "paid_ms": str(judgement.paid_ms)},
        }
        for judgement in judgements
    }
    return _evaluation(
        cell,
        vector,
        member.batch.test_set,
        _samples(vector, answers, asked),
        key=f"assignment-{member.pk}",
        model_id=f"{kind}/{pseudonym}",
        model_name=f"{'Simulated' if cell.simulated else 'Human'} annotator {pseudonym}",
        stored_at=member.finished_at,
        evaluated_at=member.finished_at,
        split=member.batch.split,
        about=about,
    )


def _of_run(cell: Cell, run: Run, vector: Vector, asked: Asked) -> Evaluation:
    predictions = Prediction.objects.filter(run=run).values_list("example_id", "answer")
    answers = {pk: {"answer": answer} for pk, answer in predictions}
    told = {
        "kind": "run",
        "method": run.method,
        "parameters": run.parameters,
        "citation": run.citation,
        "url": run.url,
        "external_labelled": _told(run.uses_labelled),
        "external_unlabelled": _told(run.uses_unlabelled),
        "protocol": " ".join(run.protocol),
        "run_checksum": run.checksum,
    }
    return _evaluation(
        cell,
        vector,
        run.test_set,
        _samples(vector, answers, asked),
        key=f"run-{run.pk}",
        model_id=run.system,
        model_name=run.system,
        stored_at=run.created_at,
        # When the system ran is not known here.
        evaluated_at=None,
        split=run.split,
        about={key: value for key, value in told.items() if value},
    )


def _evaluation(
    cell: Cell,
    vector: Vector,
    test_set: ItemSet,
    samples: tuple[Sample, ...],
    *,
    split: int | None,
    **about: Any,
) -> Evaluation:
    benchmark = cell.task.benchmark
    return Evaluation(
        benchmark=benchmark.name,
        task=cell.task.slug,
        kind=cell.task.kind,
        organization="",
        scorer_version=SCORER_VERSION,
        parameters={
            "shots": cell.shots,
            "split": split,
            "episode": test_set.episode,
            "references": cell.references,
            "normalisation": cell.normalisation,
            "gold_version": cell.gold_version,
        },
        data={
            "item_set": test_set.name,
            "item_set_checksum": test_set.checksum,
            **({"source": benchmark.source} if benchmark.source else {}),
        },
        items=len(vector.items),
        samples=samples,
        **about,
    )


def _samples(
    vector: Vector, answers: Mapping[int, Mapping[str, Any]], asked: Asked
) -> tuple[Sample, ...]:
    """In the order of the test set, without the items that have no answer."""
    items = vector.items
    rows = zip(items.example_ids, items.source_ids, items.golds, vector.scores, strict=True)
    return tuple(
        _sample(source_id, asked[pk], golds, float(score), answers[pk])
        for pk, source_id, golds, score in rows
        if pk in answers
    )


def _sample(
    source_id: str,
    asked: tuple[list[str], str, Sequence[str]],
    alternatives: tuple[tuple[str, ...], ...],
    score: float,
    given: Mapping[str, Any],
) -> Sample:
    context, question, choices = asked
    return Sample(
        source_id=source_id,
        context=tuple(context),
        question=question,
        choices=tuple(choices),
        alternatives=alternatives,
        score=score,
        **{**given, "answer": tuple(given["answer"])},
    )


def _asked(test_set: ItemSet) -> Asked:
    kind = answer_kind(test_set.task.kind)
    return {
        example.pk: (
            example.context,
            example.question,
            kind.options(asked(example, test_set.choices)),
        )
        for example in test_set.examples.all()
    }


def _told(flag: bool | None) -> str:
    return "" if flag is None else str(flag).lower()


def packed(evaluations: Iterable[Evaluation]) -> IO[bytes]:
    """Runs can have a million answers."""
    return on_disk(partial(_pack, evaluations))


def _pack(evaluations: Iterable[Evaluation], file: IO[bytes]) -> None:
    with ZipFile(file, "w", ZIP_DEFLATED) as archive:
        for evaluation in evaluations:
            for path, content in files(evaluation).items():
                archive.writestr(path, content)


def archive_name(name: str) -> str:
    return f"every-eval-ever-{name}.zip"
