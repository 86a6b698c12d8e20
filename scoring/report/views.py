"""The methods section and the reporting sheet of a study, to read and to download."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from annotation.models import Study
from scoring.comparison.requests import download, for_researchers
from scoring.report.documents import FORMATS, PARTS, Report, report, topics_table
from scoring.report.sheet import REFERENCE, Source
from scoring.tables import documents

DOCUMENTS = {"text": ("text/plain; charset=utf-8", "txt"), "latex": ("application/x-tex", "tex")}
# The sheet is a table too; its LaTeX is the report's.
TABLES = [form for form in documents.FORMATS if form not in DOCUMENTS]


@for_researchers
@require_safe
def study_report(request: HttpRequest, name: str) -> HttpResponse:
    found = _report(name)
    context = {
        "scope": "study",
        "name": name,
        "tab": "report",
        "report": found,
        "reference": REFERENCE,
        "from_data": found.count(Source.DATA),
        "in_part": found.count(Source.PART),
        "for_researcher": found.count(Source.RESEARCHER),
        "documents": list(DOCUMENTS),
        "tables": TABLES,
    }
    return render(request, "scoring/report/report.html", context)


@for_researchers
@require_safe
def report_export(request: HttpRequest, name: str, part: str, form: str) -> HttpResponse:
    if part not in PARTS:
        raise Http404
    if form in DOCUMENTS:
        content_type, extension = DOCUMENTS[form]
        document = FORMATS[form](_report(name), [part]).encode()
        return download(document, content_type, f"{part}-{name}.{extension}")
    if part != "sheet" or form not in TABLES:
        raise Http404
    writer = documents.FORMATS[form]
    document = writer.write([topics_table(_report(name))])
    return download(document, writer.content_type, f"{part}-{name}.{writer.extension}")


def _report(name: str) -> Report:
    return report(
        get_object_or_404(Study.objects.select_related("benchmark", "channel"), slug=name)
    )
