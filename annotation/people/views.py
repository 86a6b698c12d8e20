"""The pages that watch a study: how it stands, who takes part, and one person."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from operator import itemgetter
from typing import Any

from django.contrib import messages
from django.db.models import Min
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from annotation.access.requests import ResearcherRequest, join_links, resume_link
from annotation.access.rights import Right, may, rights_in
from annotation.jobs.requests import document, for_spreadsheets
from annotation.kinds import in_full
from annotation.kinds.gold import answer_score, golds_of
from annotation.models import (
    CHECK,
    Assignment,
    ChangeAction,
    Item,
    Judgement,
    PayPurpose,
    Role,
    Study,
    clock,
)
from annotation.models.errors import Refusal
from annotation.models.frozen import BatchContent, batch_content
from annotation.payments import ledger
from annotation.payments.views import CorrectionForm, type_again
from annotation.people import rows as rows_of
from annotation.people.flags import labels
from annotation.people.overview import overview
from annotation.people.rows import Row, chosen, columns_for, row_of, rows
from annotation.studies.exported_judgements import csv_lines
from annotation.studies.forms import ReasonForm
from annotation.studies.listing import listing
from annotation.studies.monitoring import StudyFigures
from annotation.studies.people import exclude, lift_exclusion, new_version
from annotation.studies.tabs import CHANGE, READ, SEND, study_frame, study_page
from annotation.work.crowding import hours_code, limit_of
from annotation.work.places import release_place
from annotation.work.wording import amount_text
from scoring.tables.documents import FORMATS
from scoring.tables.table import Cell, Column, Line, Table, Value, table_in, values_of

WATCH = "annotation/people/watch.html"
PEOPLE = "annotation/people/people.html"
PER_PAGE = 100
_read = study_page(*READ, right=Right.PEOPLE, permission="annotation.view_assignment")


@study_page(*READ, right=Right.TABLES)
def watch(request: ResearcherRequest, study: Study) -> HttpResponse:
    now, everybody = clock.now(), rows(study)
    hands_out = study.is_open and may(request.user, study, Right.SET_UP)
    figures = StudyFigures(study, [row.person for row in everybody], at=now)
    has_ids = may(request.user, study, Right.IDS)
    frame = study_frame(request.user, study, tab="overview")
    context = {
        **frame,
        "overview": overview(study, everybody, figures, rights=frame["rights"], at=now),
        "figures": figures,
        "now": now,
        # For whoever sets up the study, where it takes people by it.
        "links": join_links(request, study) if hands_out else [],
        "hours_code": hours_code(study, at=now) if hands_out and has_ids else "",
        "joins_an_hour": limit_of(study)[1],
    }
    template = f"{WATCH}#figures" if request.htmx else WATCH
    return render(request, template, context)


@_read
def people(request: ResearcherRequest, study: Study) -> HttpResponse:
    everybody = rows(study)
    filters = filters_in(request)
    frame = study_frame(request.user, study, tab="people")
    table = table_of(study, chosen(everybody, **filters), frame["rights"])
    context = {
        **frame,
        **listing(request, table, per_page=PER_PAGE),
        "everybody": len(everybody),
        "filters": filters,
        "states": rows_of.STATES,
        "flags": labels().items(),
        "batches": study.batches.select_related("task", "training_set", "test_set", "pool"),
        "now": clock.now(),
        "can_change": not study.is_closed,
    }
    # Another order or choice of columns takes what it shows from the whole page.
    template = f"{PEOPLE}#rows" if request.htmx and request.htmx.target == "rows" else PEOPLE
    return render(request, template, context)


def table_of(study: Study, rows: Iterable[Row], rights: Collection[Right]) -> Table:
    """What the page lists of them."""
    columns = [column for column in columns_for(rights) if column.heading]
    lines = (Line(values_of(columns, row) | _dressed(study, row)) for row in rows)
    return replace(table_in(rows_of.__file__, "people", columns), lines=tuple(lines))


def _dressed(study: Study, row: Row) -> dict[str, Value | Cell]:
    """The cells that show more than a value, and what orders them."""
    person, flags = row.person, [(flag.label, flag.sentence) for flag in row.flags]
    page = reverse("annotation:person", args=[study.slug, person.pk])
    state = "at work" if row.is_at_work else person.outcome_label
    return {
        "annotator": Cell(person.pseudonym, href=page, note=row.batch),
        "state": Cell(state, beneath=row.whereabouts),
        "progress": row.done / row.items if row.items else 0,
        "flags": Cell(", ".join(label for label, _ in flags), opens=tuple(flags)),
        "number of flags": len(flags),
    }


@_read
@for_spreadsheets
def people_export(request: ResearcherRequest, study: Study) -> HttpResponse:
    lines = csv_lines(*_chosen_rows(request, study))
    return _file_of_people(study, "csv", "".join(lines).encode())


@_read
def people_workbook(request: ResearcherRequest, study: Study) -> HttpResponse:
    columns, shown = _chosen_rows(request, study)
    lines = tuple(Line(values_of(columns, row)) for row in shown)
    table = replace(table_in(rows_of.__file__, "people", columns), lines=lines)
    return _file_of_people(study, "xlsx", FORMATS["xlsx"].write([table]))


def _chosen_rows(request: ResearcherRequest, study: Study) -> tuple[Sequence[Column], list[Row]]:
    """The columns that the reader's rights open, and whom the page's filters leave."""
    shown = chosen(rows(study), **filters_in(request))
    return columns_for(rights_in(request.user, study)), shown


def _file_of_people(study: Study, file_format: str, content: bytes) -> HttpResponse:
    """Under another name than the study's table of people, which is told with its data."""
    name = f"{study.slug}-people-shown.{file_format}"
    return document(content, FORMATS[file_format].content_type, name)


def filters_in(request: HttpRequest) -> dict[str, str]:
    return {name: request.GET.get(name, "") for name in ("state", "flag", "batch")}


@_read
def person(request: ResearcherRequest, study: Study, assignment_id: int) -> HttpResponse:
    return _person_page(request, study, assignment_id)


def _person_page(
    request: ResearcherRequest, study: Study, assignment_id: int, *, status: int = 200, **more: Any
) -> HttpResponse:
    """`typed`: of a correction that was refused."""
    row = row_of(study, assignment_id)
    if row is None:
        raise Http404
    assignment = assignment_in(study, assignment_id)
    frame = study_frame(request.user, study, tab="people")
    context = {
        **frame,
        "row": row,
        "events": events(assignment, with_pay=Right.PAY in frame["rights"]),
        "answers": answers(assignment, scored=not row.is_at_work and Right.GOLD in frame["rights"]),
        "comments": list(assignment.comments.select_related("example").order_by("id")),
        "exclude_form": ReasonForm(),
        "new_version": new_version(assignment),
    }
    if Right.IDS in frame["rights"]:
        # Of simulated people, and those whose id is erased, nobody can be written to.
        if row.person.external_id and not assignment.is_simulated:
            context["message"] = _message(study, row)
        context["resume_link"] = resume_link(request, assignment)
    if Right.PAY in frame["rights"]:
        due = ledger.due_of(assignment)
        seen = {"lines": due.approvals[1] if due else 0}
        form = CorrectionForm(initial={**more.get("typed", {}), **seen})
        context |= {"due": due, "correction_form": form}
    return render(request, "annotation/people/person.html", {**context, **more}, status=status)


def _message(study: Study, row: Row) -> str:
    """A text to be copied into the platform's messages; it says nothing of the gold."""
    title = study.title
    if row.is_at_work:
        return (
            f"Hello, your place in our study “{title}” is still kept for you: you have answered "
            f"{row.done} of {row.items}. You can go on where you stopped with your personal link. "
            "If you would rather stop, choose “Stop taking part” there: the time that you worked "
            "is counted."
        )
    return f"Hello, thank you for your work in our study “{title}”. We have a question about it: "


@study_page(*SEND, right=Right.PEOPLE, permission=CHANGE)
def release(request: ResearcherRequest, study: Study, assignment_id: int) -> HttpResponse:
    assignment = assignment_in(study, assignment_id)
    try:
        release_place(assignment, at=clock.now(), by=request.user)
    except Refusal as refusal:
        return _person_page(request, study, assignment_id, status=409, refused=str(refusal))
    messages.success(request, "The place is open: whoever comes first takes it.")
    return redirect("annotation:person", study.slug, assignment_id)


@study_page(*SEND, right=Right.PEOPLE, permission="annotation.add_exclusion")
def exclude_person(request: ResearcherRequest, study: Study, assignment_id: int) -> HttpResponse:
    assignment = assignment_in(study, assignment_id)
    form = ReasonForm(request.POST)
    if not form.is_valid():
        return _person_page(request, study, assignment_id, status=422, exclude_form=form)
    try:
        exclude(assignment, reason=form.cleaned_data["reason"], author=request.user)
    except Refusal as refusal:
        return _person_page(request, study, assignment_id, status=409, refused=str(refusal))
    done = "Excluded: outcome, code and pay stay as they are."
    messages.success(request, f"{done} {new_version(assignment)}".strip())
    return redirect("annotation:person", study.slug, assignment_id)


@study_page(*SEND, right=Right.PEOPLE, permission="annotation.delete_exclusion")
def lift_person(request: ResearcherRequest, study: Study, assignment_id: int) -> HttpResponse:
    assignment = assignment_in(study, assignment_id)
    try:
        lift_exclusion(assignment, by=request.user)
    except Refusal as refusal:
        return _person_page(request, study, assignment_id, status=409, refused=str(refusal))
    done = "The exclusion is lifted: their answers count again."
    messages.success(request, f"{done} {new_version(assignment)}".strip())
    return redirect("annotation:person", study.slug, assignment_id)


@study_page(*SEND, right=Right.PAY, permission=CHANGE)
def correct_payment(request: ResearcherRequest, study: Study, assignment_id: int) -> HttpResponse:
    assignment = assignment_in(study, assignment_id)
    form = CorrectionForm(request.POST)
    if form.is_valid():
        try:
            amount, typed = form.cleaned_data["amount"], request.POST.get("typed", "")
            ledger.check_typed(study, amount, typed, whose=assignment.annotator.pseudonym)
            ledger.correct(assignment, **form.cleaned_data, at=clock.now(), by=request.user)
        except ledger.NotTyped as refusal:
            return type_again(request, study, refusal)
        except Refusal as refusal:
            form.add_error(None, str(refusal))
        else:
            messages.success(request, "The correction is written down.")
            return redirect("annotation:person", study.slug, assignment_id)
    refused = " ".join(str(sentence) for errors in form.errors.values() for sentence in errors)
    sent = {name: request.POST.get(name, "") for name in ("amount", "reason")}
    return _person_page(request, study, assignment_id, status=422, refused=refused, typed=sent)


def assignment_in(study: Study, assignment_id: int) -> Assignment:
    assignments = Assignment.objects.select_related("annotator", "study")
    return get_object_or_404(assignments, study=study, pk=assignment_id)


Event = tuple[datetime, str]


def events(assignment: Assignment, *, with_pay: bool) -> list[Event]:
    paid = _paid(assignment) if with_pay else ()
    return sorted([*_events(assignment), *paid], key=itemgetter(0))


def _paid(assignment: Assignment) -> Iterator[Event]:
    for line in assignment.payment_lines.all():
        amount = amount_text(line.amount, assignment.study.currency)
        if line.purpose == PayPurpose.BONUS:
            yield line.made_at, f"{amount} sent as a bonus"
        elif line.correction:
            yield line.made_at, f"pay corrected by {amount}: {line.reason}"
        else:
            yield line.made_at, f"{amount} approved as due"


def _events(assignment: Assignment) -> Iterator[Event]:
    events = {
        "agreed to take part": assignment.consented_at,
        "first answer": assignment.judgements.aggregate(at=Min("submitted_at"))["at"],
        "practice ended": assignment.training_ended_at,
        "was given a new personal link": assignment.resume_renewed_at,
        f"ended: {assignment.get_outcome_display()}": assignment.finished_at,
    }
    if exclusion := getattr(assignment, "exclusion", None):
        events[f"excluded: {exclusion.reason}"] = exclusion.created_at
    yield from ((at, event) for event, at in events.items() if at)
    for number, submission in enumerate(assignment.submissions.all()):
        if number:
            yield submission.entered_at, "came back by another submission"
        if submission.status_at:
            earlier = "" if submission.is_latest else " (an earlier submission)"
            event = f"on the platform: {submission.get_status_display()}{earlier}"
            yield submission.status_at, event
    for written_at in assignment.comments.values_list("written_at", flat=True):
        yield written_at, "reported a problem"
    who = assignment.annotator.pseudonym
    releases = assignment.study.changes.filter(action=ChangeAction.PLACE_RELEASED)
    for released_at in releases.filter(after__has_key=who).values_list("at", flat=True):
        yield released_at, "the place was released"


def answers(assignment: Assignment, *, scored: bool) -> list[dict[str, Any]]:
    """`scored` after the end, for whoever may see the gold: S1 in percent at that of the start."""
    judgements = list(assignment.judgements.select_related("example__task").order_by("step"))
    batch, content = assignment.batch, batch_content(assignment.batch_id)
    items = Item.objects.filter(item_set__in=batch.set_ids)
    names = dict(items.values_list("example", "source_id"))
    scores = _scores(judgements, content) if scored else {}
    return [
        {
            "step": judgement.step,
            "part": _PARTS[judgement.role],
            "item": names.get(judgement.example_id, ""),
            "example_id": judgement.example_id,
            "texts": ", ".join(in_full(judgement.answer, judgement.example)) or "none",
            "seconds": (judgement.submitted_at - judgement.shown_at).total_seconds(),
            "score": scores.get(judgement.example_id),
            "pastes": judgement.pastes or 0,
            "translated": judgement.translated,
        }
        for judgement in judgements
    ]


_PARTS = {CHECK: "check", Role.TRAINING: "practice", Role.TEST: "test"}


def _scores(judgements: Sequence[Judgement], content: BatchContent) -> dict[int, float]:
    """The scores in percent, by example."""
    golds, scores = golds_of(content), {}
    for each in judgements:
        gold, task = golds[each.example_id], content.task_of(content.by_pk[each.example_id])
        score = answer_score(each.answer, gold, task.reference_policy, task.normalisation)
        scores[each.example_id] = 100 * score
    return scores
