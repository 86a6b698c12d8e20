"""What people and systems answered, item by item, as a zip of Every Eval Ever files."""

from tempfile import TemporaryFile
from zipfile import ZIP_DEFLATED, ZipFile

from django.http import FileResponse, HttpRequest
from django.views.decorators.http import require_safe

from scoring.comparison.requests import asked, for_researchers
from scoring.samples.every_eval_ever import files
from scoring.samples.exporting import evaluations


@for_researchers
@require_safe
def samples(request: HttpRequest, scope: str, name: str) -> FileResponse:
    # On disk rather than in memory: runs can have a million answers.
    packed = TemporaryFile()  # noqa: SIM115  (the response closes it)
    with ZipFile(packed, "w", ZIP_DEFLATED) as archive:
        for evaluation in evaluations(*asked(request, scope, name)):
            for path, content in files(evaluation).items():
                archive.writestr(path, content)
    packed.seek(0)
    return FileResponse(packed, as_attachment=True, filename=f"every-eval-ever-{name}.zip")
