"""The researcher's pages of a study outside the admin: trying it out, its start, its exports."""

import secrets
from collections.abc import Iterable, Iterator
from dataclasses import asdict

from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.core import signing
from django.db.models import Count, Exists, OuterRef
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.access import rights
from annotation.access.requests import (
    ResearcherRequest,
    invitation_link,
    is_ticked,
    join_links,
    lets_in,
    require,
)
from annotation.access.rights import Right
from annotation.jobs.requests import document, for_spreadsheets, large_file
from annotation.kinds import answer_kind
from annotation.kinds.markup import markdown_html
from annotation.models import Batch, ItemSet, Study, Task, clock
from annotation.models.errors import BadInput, Refusal
from annotation.models.study import NEVER_FROZEN
from annotation.studies import exported_judgements
from annotation.studies.advice import start_advice
from annotation.studies.codes import as_lines, codes_to_set_up, what_it_pays
from annotation.studies.exported_tables import EXPORTS, IDS, Export, export_ids
from annotation.studies.lifecycle import start_study, what_is_missing, what_was_done
from annotation.studies.monitoring import study_cards
from annotation.studies.people import links_csv
from annotation.studies.screening import screening_facts
from annotation.studies.study_file.writing import study_as_toml
from annotation.studies.tabs import CHANGE, READ, SEND, study_for, study_frame, study_page
from annotation.work.consent_facts import facts_to_read
from annotation.work.entering import page_apart
from annotation.work.estimating import costs
from annotation.work.previewing import STOPS, Preview, PreviewState
from scoring.tables.documents import FORMATS


@login_not_required
@require_safe
def home(request: HttpRequest) -> HttpResponse:
    user, page = request.user, "annotation/studies/home.html"
    if not user.is_authenticated:
        return render(request, page)
    episodes = ItemSet.objects.filter(task__benchmark=OuterRef("pk"), episode__isnull=False)
    set_up = rights.benchmarks(user, rights.Right.SET_UP)
    context = {
        "cards": study_cards(user),
        "archived": rights.studies(user).filter(archived_at__isnull=False),
        "benchmarks": rights.benchmarks(user).annotate(
            holds_episodes=Exists(episodes),
            may_set_up=Exists(set_up.filter(pk=OuterRef("pk"))),
            task_count=Count("tasks", distinct=True),
        ),
    }
    return render(request, page, context)


@study_page(*READ, *SEND, right=Right.CODES, permission=CHANGE)
def start(request: ResearcherRequest, study: Study) -> HttpResponse:
    """What is missing, what it costs, what annotators will read, and the codes; a POST starts."""
    if study.is_frozen:
        messages.error(request, "This study has been started already.")
        return redirect("annotation:watch", study.slug)
    refusal = ""
    if request.method == "POST":
        try:
            start_study(study, at=clock.now(), by=request.user)
        except Refusal as problem:
            refusal = str(problem)
        else:
            messages.success(request, what_was_done("start", study))
            return redirect("annotation:watch", study.slug)
    sets = ("training_set", "test_set", "check_set__task")
    batches = list(study.batches.select_related("task", *sets))
    codes = codes_to_set_up(study)
    context = {
        **study_frame(request.user, study, tab="start"),
        "refusal": refusal,
        "missing": what_is_missing(study),
        "advice": start_advice(study, host=request.get_host()),
        "batches": batches,
        "tasks": [
            (task, markdown_html(answer_kind(task.kind).described(task.description), task.markup))
            for task in dict.fromkeys(_tasks_of(batches))
        ],
        **costs(study, batches),
        **screening_facts(study),
        "facts": facts_to_read(study),
        "consent": markdown_html(study.consent_text),
        "never_frozen": [name.replace("_", " ") for name in NEVER_FROZEN],
        "codes": codes,
        "codes_as_lines": as_lines(codes),
        "what_it_pays": what_it_pays(study),
        "links": join_links(request, study),
    }
    return render(request, "annotation/studies/start.html", context, status=409 if refusal else 200)


def _tasks_of(batches: Iterable[Batch]) -> Iterator[Task]:
    """What annotators read, that of their checks too."""
    for batch in batches:
        if batch.check_set:
            yield batch.check_set.task
        yield batch.task


@study_page(*READ, right=Right.SET_UP, permission=CHANGE)
def study_file(request: ResearcherRequest, study: Study) -> HttpResponse:
    codes = rights.may(request.user, study, Right.CODES)
    return document(
        study_as_toml(study, codes=codes).encode(), "application/toml", f"{study.slug}.toml"
    )


@study_page(*READ, right=Right.IDS, permission="annotation.view_invitation")
@for_spreadsheets
def invitation_links(request: ResearcherRequest, study: Study) -> HttpResponse:
    lines = links_csv(study, lambda invitation: invitation_link(request, invitation))
    return _file(lines, f"{study.slug}-invitations.csv")


CSV, XLSX = "text/csv; charset=utf-8", FORMATS["xlsx"]
CONTENT_TYPES = {"jsonl": "application/x-ndjson", "csv": CSV}


@study_page(*READ, right=Right.PEOPLE, permission="annotation.view_assignment")
def exports(request: ResearcherRequest, study: Study) -> HttpResponse:
    offered = {name: one.table for name, one in EXPORTS.items() if _may(request, study, one)}
    context = {
        **study_frame(request.user, study, tab="data"),
        "chosen": chosen_in(request),
        "judgements": offered.pop("judgements", None),
        "exports": offered.values(),
        "ids": IDS.table if _may(request, study, IDS) else None,
    }
    return render(request, "annotation/studies/exports.html", context)


@never_cache
@require_safe
@for_spreadsheets
def export(request: ResearcherRequest, slug: str, name: str) -> HttpResponse:
    table, study = table_and_study(request, slug, name)
    if name == "judgements":  # may be large: it has a page of its own
        return redirect(reverse("annotation:export_judgements", args=[slug, "csv"]))
    if table is IDS:
        raise Http404
    return _file(table.lines(study, chosen_in(request)), f"{slug}-{name}.csv")


@never_cache
@require_safe
def workbook(request: ResearcherRequest, slug: str, name: str) -> HttpResponse:
    """Send a table as a workbook, if it is no larger than its study; judgements may be."""
    table, study = table_and_study(request, slug, name)
    if table is IDS or table.reads is None:
        raise Http404
    written = XLSX.write([table.filled(study, chosen_in(request))])
    return document(written, XLSX.content_type, f"{slug}-{name}.xlsx")


@never_cache
@require_safe
@for_spreadsheets
def dictionary(request: ResearcherRequest, slug: str, name: str) -> HttpResponse:
    table, _study = table_and_study(request, slug, name)
    return _file(table.dictionary(), f"{slug}-{name}-dictionary.csv")


@never_cache
@require_POST
@for_spreadsheets
def ids(request: ResearcherRequest, slug: str) -> HttpResponse:
    """Send the ids by a form, since it leaves a line in the log."""
    _table, study = table_and_study(request, slug, "ids")
    lines = export_ids(study, chosen_in(request), by=request.user)
    return _file(lines, f"{slug}-ids.csv")


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@for_spreadsheets
def judgements(request: ResearcherRequest, slug: str, file_format: str) -> HttpResponse:
    """The file, or of a large study a page on which it is ordered and fetched."""
    if file_format not in exported_judgements.FORMATS:
        raise Http404
    _table, study = table_and_study(request, slug, "judgements")
    chosen, content_type = chosen_in(request), CONTENT_TYPES[file_format]
    file = exported_judgements.judgements_file(study, file_format, chosen)
    if file.is_large:
        back = reverse("annotation:exports", args=[slug])
        return large_file(request, file, content_type, back=back)
    data = "".join(exported_judgements.export_judgements(study, file_format, chosen)).encode()
    return document(data, content_type, exported_judgements.file_name(study, file_format))


def chosen_in(request: ResearcherRequest) -> exported_judgements.Chosen:
    ticks = {name: is_ticked(request, name) for name in ("simulated", "with_excluded")}
    return exported_judgements.Chosen(**ticks)


def _may(request: ResearcherRequest, study: Study, table: Export) -> bool:
    return all(
        lets_in(request.user, study, right, permission=table.permission) for right in table.rights
    )


def table_and_study(request: ResearcherRequest, slug: str, name: str) -> tuple[Export, Study]:
    """The table, and the study for whoever has all the rights that the table takes."""
    table = {**EXPORTS, "ids": IDS}.get(name)
    if table is None:
        raise Http404
    study = study_for(request, slug, table.permission, right=table.rights[0])
    for right in table.rights[1:]:
        require(request.user, study, right, permission=table.permission)
    return table, study


def _file(lines: Iterable[str], name: str) -> HttpResponse:
    return document("".join(lines).encode(), CSV, name)


PAGE, REFUSED = "annotation/studies/preview.html", "annotation/studies/refused.html"
LASTS_S = 2 * 60 * 60
LABELS = {"description": "What to do", "practice": "Practice", "test": "Test", "end": "End"}


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def preview(request: ResearcherRequest, batch_id: int) -> HttpResponse:
    batches = Batch.objects.select_related(
        "study__benchmark", "study__channel", "task", "training_set", "test_set"
    )
    batch = get_object_or_404(batches, pk=batch_id)
    require(request.user, batch.study, Right.GOLD)
    if batch.study.is_frozen:
        sentence = "This study has started. Copy it, and preview or rehearse the copy."
        return _refused_preview(request, batch, sentence, status=409)
    now, error = clock.now(), ""
    try:
        state = _state_before(request, batch)
        state = _state_after(request, Preview(batch, state, at=now))
    except signing.BadSignature:
        return _refused_preview(
            request, batch, "This preview has expired: begin it again.", status=400
        )
    except BadInput as refusal:
        error = str(refusal)
    return _preview_page(request, Preview(batch, state, at=now), error)


def _state_before(request: ResearcherRequest, batch: Batch) -> PreviewState:
    """Raises BadSignature for one that has expired, or is another's or of another batch."""
    if request.method != "POST":
        return PreviewState(batch=batch.pk, seed=f"preview-{secrets.token_hex(4)}")
    signed = request.POST.get("state", "")
    state = PreviewState(**signing.loads(signed, salt=_salt(request), max_age=LASTS_S))
    if state.batch != batch.pk:
        raise signing.BadSignature
    return state


def _state_after(request: ResearcherRequest, preview: Preview) -> PreviewState:
    """Raises BadInput for a form that the real page would refuse."""
    if request.method == "POST":
        return preview.sent(request.POST.dict())
    stop = request.GET.get("at", STOPS[0])
    if stop not in STOPS:
        raise Http404
    return preview.at(stop)


def _preview_page(request: ResearcherRequest, preview: Preview, error: str) -> HttpResponse:
    context = {
        "title": "Preview",
        "preview_state": signing.dumps(asdict(preview.state), salt=_salt(request), compress=True),
        "stops": {
            name: label for name, label in LABELS.items() if name != "practice" or preview.trained
        },
        "batch": preview.batch,
    }
    return page_apart(request, preview, PAGE, error=error, **context)


def _salt(request: ResearcherRequest) -> str:
    return f"preview of {request.user.pk}"


def _refused_preview(
    request: ResearcherRequest, batch: Batch, sentence: str, *, status: int
) -> HttpResponse:
    if request.htmx:
        # A whole page does not fit into the place of a step.
        return HttpResponse(headers={"HX-Redirect": request.path})
    frame = study_frame(request.user, batch.study, tab="batches")
    return render(request, REFUSED, {**frame, "sentence": sentence}, status=status)
