"""What people and systems answered, item by item, as a zip of Every Eval Ever files."""

from django.http import HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from annotation.access.requests import ResearcherRequest
from annotation.access.rights import Right
from annotation.jobs.requests import document, large_file
from scoring.cells.scope import file_order
from scoring.comparison.requests import asked
from scoring.samples.exporting import JOB, archive_name, evaluations, packed


@require_http_methods(["GET", "HEAD", "POST"])
def samples(request: ResearcherRequest, scope: str, name: str) -> HttpResponse:
    """The file, or of a large study or benchmark a page on which it is ordered and fetched."""
    compared, choices = asked(request, scope, name, Right.GOLD)
    file = file_order(JOB, compared, choices)
    if file.is_large:
        back = reverse("scoring:comparison", args=[scope, name])
        return large_file(request, file, "application/zip", back=back)
    with packed(evaluations(compared, choices)) as archive:
        return document(archive.read(), "application/zip", archive_name(name))
