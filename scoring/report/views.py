"""The methods section and the reporting sheet of a study, to read and to download."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from annotation.access.requests import ResearcherRequest, require
from annotation.access.rights import Right, may
from annotation.jobs.files import FileOrder
from annotation.jobs.requests import document, for_spreadsheets, large_file
from annotation.models import Study
from annotation.studies.tabs import READ, SEND, check_has, study_frame, study_page
from scoring.cells.scope import Choices, Scope, file_order
from scoring.comparison.answer import answers
from scoring.comparison.documents import shots_of_people
from scoring.models import Run
from scoring.models.run import by_researchers
from scoring.report import documents, preregistration
from scoring.report.methods import REFERENCE, Source


# A report's figures follow from single items, and with them from the gold: viewers get the page
# alone, once the study is closed, and only where nobody could ask for figures by runs of their own.
@study_page(*READ, right=Right.TABLES)
def study_report(request: ResearcherRequest, study: Study) -> HttpResponse:
    check_has(study, "report")
    if not study.is_closed:
        require(request.user, study, Right.GOLD)
    of_others = Run.objects.filter(task__benchmark=study.benchmark).exclude(by_researchers())
    if not may(request.user, study, Right.GOLD) and of_others.exists():
        frame = study_frame(request.user, study, tab="report")
        return render(request, "scoring/report/withheld.html", frame)
    report = documents.Report(study, with_pay=may(request.user, study, Right.PAY))
    compared = report.comparison
    context = {
        "scope": "study",
        "name": study.slug,
        **study_frame(request.user, report.study, tab="report"),
        # What the comparison says it found.
        "answers": answers(compared, shots_of_people(compared.rows)),
        "report": report,
        "reference": REFERENCE,
        "from_data": report.count(Source.DATA),
        "in_part": report.count(Source.PART),
        "for_researcher": report.count(Source.RESEARCHER),
        "documents": list(documents.FORMATS),
        "tables": documents.TABLES,
        "preregistrations": list(preregistration.FORMATS),
    }
    return render(request, "scoring/report/report.html", context)


@study_page(*READ, *SEND, right=Right.GOLD)
@for_spreadsheets
def report_export(request: ResearcherRequest, study: Study, part: str, form: str) -> HttpResponse:
    """The file, or of a large study a page on which it is ordered and fetched."""
    file = report_order(request, study, part, form)
    if file.is_large:
        back = reverse("scoring:report", args=[study.slug])
        return large_file(request, file, documents.FILES[form][0], back=back)
    return report_file(study, file)


def report_order(request: HttpRequest, study: Study, part: str, form: str) -> FileOrder:
    """What it takes to make a report as this reader may see it. Raises Http404 for no such part."""
    check_has(study, "report")
    if part not in documents.PARTS or form not in documents.forms_of(part):
        raise Http404
    with_pay = may(request.user, study, Right.PAY)
    about: dict[str, Any] = {"part": part, "form": form, "with_pay": with_pay}
    return file_order(documents.JOB, Scope(study.benchmark, study), Choices(), **about)


def report_file(study: Study, order: FileOrder) -> HttpResponse:
    part, form, with_pay = (order.arguments[name] for name in ("part", "form", "with_pay"))
    data = documents.export_report(study, str(part), str(form), with_pay=bool(with_pay))
    name = documents.file_name(study, str(part), str(form))
    return document(data, documents.FILES[str(form)][0], name)


@study_page(*READ, right=Right.GOLD)
def preregistration_export(request: ResearcherRequest, study: Study, form: str) -> HttpResponse:
    check_has(study, "report")
    if form not in preregistration.FORMATS:
        raise Http404
    return preregistration_file(study, form)


def preregistration_file(study: Study, form: str) -> HttpResponse:
    written = preregistration.FORMATS[form]
    data = preregistration.export_preregistration(study, form)
    name = f"preregistration-{study.slug}.{written.extension}"
    return document(data, written.content_type, name)
