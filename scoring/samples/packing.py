"""The samples of many evaluations as one zip of Every Eval Ever files."""

from collections.abc import Iterable
from tempfile import TemporaryFile
from typing import IO
from zipfile import ZIP_DEFLATED, ZipFile

from scoring.samples.every_eval_ever import Evaluation, files


def packed(evaluations: Iterable[Evaluation]) -> IO[bytes]:
    """On disk rather than in memory: runs can have a million answers."""
    file = TemporaryFile()  # noqa: SIM115  (the caller closes it)
    with ZipFile(file, "w", ZIP_DEFLATED) as archive:
        for evaluation in evaluations:
            for path, content in files(evaluation).items():
                archive.writestr(path, content)
    file.seek(0)
    return file


def archive_name(name: str) -> str:
    return f"every-eval-ever-{name}.zip"
