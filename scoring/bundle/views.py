"""A study's bundle, made and sent; and the studies of others, read-only."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

from django import forms
from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import FileResponse, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.access.requests import ResearcherRequest, require
from annotation.access.rights import Right, is_all_powerful
from annotation.jobs.files import on_disk
from annotation.jobs.requests import UploadField, order_upload
from annotation.models import ReferencePolicy, Study
from annotation.models.errors import Refusal
from annotation.studies.tabs import study_frame
from scoring.bundle.packing import export_bundle
from scoring.bundle.tasks import JOB, LIMITS, may_check
from scoring.cells.rows import BY_KEY
from scoring.comparison.row_tables import ESTIMANDS
from scoring.core.s1 import REFERENCE_POLICIES
from scoring.models import ImportedStudy
from scoring.tables.table import Cell, Table, lines_of, words

# Of the figures of a bundle.
COLUMNS = (
    replace(BY_KEY["task"], is_name=True),
    BY_KEY["shots"],
    replace(BY_KEY["mean"], heading="Mean S1, %"),
    replace(BY_KEY["sd"], heading="SD"),
    replace(BY_KEY["n"], heading="n"),
    BY_KEY["m"],
    replace(BY_KEY["ci_method"], heading="Interval by"),
    BY_KEY["gold_version"],
    words(
        *("who", "Who counts"),
        "People or simulated annotators; with or without excluded assignments.",
    ),
)


@never_cache
@require_POST
def bundle(request: ResearcherRequest, name: str) -> HttpResponse | FileResponse:
    """Send a bundle by a form, since it leaves a line in the log."""
    study = get_object_or_404(Study.objects.select_related("benchmark", "channel"), slug=name)
    for right in (Right.PEOPLE, Right.GOLD):
        require(request.user, study, right, permission="annotation.view_judgement")
    pack = partial(
        export_bundle,
        study,
        by=request.user,
        texts="texts" in request.POST,
        simulated="simulated" in request.GET,
        with_excluded="with_excluded" in request.GET,
    )
    try:
        file = on_disk(pack)
    except Refusal as refusal:
        context = {**study_frame(request.user, study, tab="data"), "sentence": str(refusal)}
        return render(request, "annotation/studies/refused.html", context, status=409)
    return FileResponse(file, as_attachment=True, filename=f"{name}-bundle.zip")


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def imported_studies(request: ResearcherRequest) -> HttpResponse:
    """The list; a bundle in, a job out."""
    if not request.user.has_perm("annotation.view_study"):
        raise PermissionDenied
    is_allowed = may_check(request.user)
    form = BundleForm(request.POST or None, request.FILES or None)
    status = 200
    if request.method == "POST":
        if is_allowed and form.is_valid():
            job = order_upload(JOB, {}, form.cleaned_data["file"], author=request.user)
            return redirect("admin:annotation_job_change", job.pk)
        status = 400 if is_allowed else 403
    studies = visible_to(request.user).select_related("owner")
    context = {
        "studies": studies,
        "form": form,
        "may_check": is_allowed,
        "limits": LIMITS,
        "most_mb": settings.BENCHMARK_UPLOAD_MAX_BYTES // 1_000_000,
    }
    return render(request, "scoring/bundle/imported_studies.html", context, status=status)


@never_cache
@require_safe
def imported_study(request: ResearcherRequest, pk: int) -> HttpResponse:
    study = get_object_or_404(visible_to(request.user), pk=pk)
    rules = study.about.get("rules")
    context = {
        "imported": study,
        "rules": sorted(rules.items()) if isinstance(rules, dict) else [],
        "tables": list(figure_tables(study.figures)),
    }
    return render(request, "scoring/bundle/imported_study.html", context)


def visible_to(user: User) -> QuerySet[ImportedStudy]:
    """One's own; what nobody owns is the superusers'."""
    every = ImportedStudy.objects.all()
    return every if is_all_powerful(user) else every.filter(owner=user)


class BundleForm(forms.Form):
    file = UploadField(
        label="A bundle (zip)",
        widget=forms.FileInput(attrs={"accept": ".zip,application/zip"}),
        error_messages={"required": "Choose the zip file of a bundle."},
    )


def figure_tables(figures: Sequence[Mapping[str, Any]]) -> Iterator[Table]:
    """One for each policy and estimand that has figures: they never share a column."""
    for estimand, references in product(ESTIMANDS, reversed(REFERENCE_POLICIES)):
        rows = [f for f in figures if (f["references"], f["asked"]) == (references, estimand)]
        if rows:
            policy = ReferencePolicy(references).label
            title = f"Intervals for {ESTIMANDS[estimand]}, references: {policy}"
            lines = lines_of(map(_cells, rows))
            yield Table(f"figures-{estimand}-{references}", title, "", COLUMNS, lines)


def _cells(row: Mapping[str, Any]) -> dict[str, Any]:
    who = "simulated" if row["kind"] == "simulated" else "people"
    return {
        **{column.key: row.get(column.key) for column in COLUMNS},
        "mean": Cell(row["mean"], low=row["ci_low"], high=row["ci_high"]),
        "who": f"{who}, with excluded" if row["with_excluded"] else who,
    }
