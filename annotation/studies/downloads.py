"""The file of a large study's judgements, made by a worker."""

from collections.abc import Iterator
from dataclasses import asdict

from annotation.jobs import files, queue
from annotation.models import Job, Judgement, Study
from annotation.models.errors import Refusal
from annotation.studies.exporting import FORMATS, PEOPLE, Chosen, export_judgements

JOB = "export_judgements"
TELLS_EVERY = 2_000


def judgements_file(study: Study, file_format: str, chosen: Chosen = PEOPLE) -> files.Wanted:
    arguments = {"format": file_format, **asdict(chosen)}
    return files.Wanted(JOB, study, arguments, answers=_judgements(study))


def make_file(job: Job, progress: queue.Progress) -> queue.Result:
    study = Study.objects.filter(pk=job.arguments["study"]).first()
    file_format = job.arguments["format"]
    if study is None or file_format not in FORMATS:
        raise Refusal("The study is no longer there.")
    chosen = Chosen(*(job.arguments[name] for name in ("simulated", "with_excluded")))
    lines = _lines(study, file_format, chosen, progress)
    return files.keep(job, file_name(study, file_format), lines)


def file_name(study: Study, file_format: str) -> str:
    return f"{study.slug}-judgements.{file_format}"


def _lines(
    study: Study, file_format: str, chosen: Chosen, progress: queue.Progress
) -> Iterator[bytes]:
    total = _judgements(study)
    for number, line in enumerate(export_judgements(study, file_format, chosen)):
        if number % TELLS_EVERY == 0:
            progress(min(number, total), total)
        yield line.encode()


def _judgements(study: Study) -> int:
    return Judgement.objects.filter(assignment__study=study).count()
