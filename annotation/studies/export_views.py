"""What leaves a study: the page that offers it, the tables, and their dictionaries."""

from collections.abc import Iterable

from django.http import FileResponse, Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.access.requests import ResearcherRequest, lets_in, require
from annotation.access.rights import Right
from annotation.jobs.files import on_disk
from annotation.jobs.requests import document, large_file
from annotation.models import Study
from annotation.studies.exported_judgements import (
    FORMATS,
    Chosen,
    export_judgements,
    file_name,
    judgements_file,
)
from annotation.studies.exported_tables import EXPORTS, IDS, Export, export_ids
from annotation.studies.tabs import READ, study_for, study_frame, study_page

CSV = "text/csv; charset=utf-8"
CONTENT_TYPES = {"jsonl": "application/x-ndjson", "csv": CSV}


@study_page(*READ, right=Right.PEOPLE, permission="annotation.view_assignment")
def exports(request: ResearcherRequest, study: Study) -> HttpResponse:
    offered = [export for export in EXPORTS.values() if _may(request, study, export)]
    context = {
        **study_frame(request.user, study, tab="data"),
        "chosen": chosen_in(request),
        "exports": [export for export in offered if export.name != "judgements"],
        "judgements": next((export for export in offered if export.name == "judgements"), None),
        "ids": IDS if _may(request, study, IDS) else None,
    }
    return render(request, "annotation/studies/exports.html", context)


@never_cache
@require_safe
def export(request: ResearcherRequest, slug: str, name: str) -> HttpResponse | FileResponse:
    table, study = _chosen(request, slug, name)
    if table.name == "judgements":  # may be large: it has a page of its own
        return redirect(reverse("annotation:export_judgements", args=[slug, "csv"]))
    if table is IDS:
        raise Http404
    return _file(table.lines(study, chosen_in(request)), f"{slug}-{name}.csv")


@never_cache
@require_safe
def dictionary(request: ResearcherRequest, slug: str, name: str) -> FileResponse:
    table, _study = _chosen(request, slug, name)
    return _file(table.dictionary(), f"{slug}-{name}-dictionary.csv")


@never_cache
@require_POST
def ids(request: ResearcherRequest, slug: str) -> FileResponse:
    """By a form, since it leaves a line in the log."""
    _table, study = _chosen(request, slug, IDS.name)
    lines = export_ids(study, chosen_in(request), by=request.user)
    return _file(lines, f"{slug}-ids.csv")


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def judgements(request: ResearcherRequest, slug: str, file_format: str) -> HttpResponse:
    """The file, or of a large study a page on which it is ordered and fetched."""
    if file_format not in FORMATS:
        raise Http404
    _table, study = _chosen(request, slug, "judgements")
    chosen, content_type = chosen_in(request), CONTENT_TYPES[file_format]
    file = judgements_file(study, file_format, chosen)
    if file.is_large:
        back = reverse("annotation:exports", args=[slug])
        return large_file(request, file, content_type, back=back)
    data = "".join(export_judgements(study, file_format, chosen)).encode()
    return document(data, content_type, file_name(study, file_format))


def chosen_in(request: ResearcherRequest) -> Chosen:
    return Chosen(
        simulated="simulated" in request.GET, with_excluded="with_excluded" in request.GET
    )


def _may(request: ResearcherRequest, study: Study, table: Export) -> bool:
    return all(
        lets_in(request.user, study, right, permission=table.permission) for right in table.rights
    )


def _chosen(request: ResearcherRequest, slug: str, name: str) -> tuple[Export, Study]:
    """The table, and the study for whoever has all the rights that the table takes."""
    table = {**EXPORTS, IDS.name: IDS}.get(name)
    if table is None:
        raise Http404
    study = study_for(request, slug, table.permission, right=table.rights[0])
    for right in table.rights[1:]:
        require(request.user, study, right, permission=table.permission)
    return table, study


def _file(lines: Iterable[str], name: str) -> FileResponse:
    """Sent by the server, so no thread waits for a slow reader."""
    file = on_disk(lambda file: file.writelines(line.encode() for line in lines))
    return FileResponse(file, as_attachment=True, filename=name, content_type=CSV)
