"""The samples of many evaluations as one zip of Every Eval Ever files."""

from collections.abc import Iterable
from functools import partial
from typing import IO
from zipfile import ZIP_DEFLATED, ZipFile

from annotation.jobs.files import on_disk
from scoring.samples.every_eval_ever import Evaluation, files


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
