"""The planner: sliders, the frontier that they make, and the study that it recommends."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from annotation.access.requests import ResearcherRequest
from annotation.models import Study
from annotation.models.errors import Refusal
from annotation.studies.drafting import Draft, draft_study
from scoring.comparison.requests import for_researchers
from scoring.figures.drawing import inline_svg
from scoring.planning.designs import LEAST_COVERAGE, Plan, make_plan
from scoring.planning.figure import plan_figure
from scoring.planning.forms import DraftForm, PilotForm, PlanForm, values_of
from scoring.planning.tables import plan_as_plain, plan_table
from scoring.tables.table import rounded

# Answers of one cell: a larger one takes longer to simulate than a page may.
MOST_CHECKED = 10_000


@for_researchers
@require_safe
def plan(request: ResearcherRequest) -> HttpResponse:
    """The whole page, or only its result when a slider moved."""
    if "pilot" in request.GET:
        return _with_pilot(request)
    form = PlanForm.from_query(request.GET)
    context: dict[str, Any] = {"form": form, "pilots": PilotForm()}
    context |= _result(form, checked="check" in request.GET)
    context["draft"] = DraftForm()
    template = "scoring/planning/plan.html"
    return render(request, f"{template}#result" if request.htmx else template, context)


@for_researchers
@require_safe
def plan_document(request: HttpRequest) -> HttpResponse:
    """The plan as JSON, as the command prints it."""
    found = _result(PlanForm.from_query(request.GET), checked="check" in request.GET)
    if "plan" not in found:
        return JsonResponse({"error": found["problem"]}, status=400)
    return JsonResponse(plan_as_plain(found["plan"]), json_dumps_params={"indent": 1})


@for_researchers
@require_POST
def draft_plan(request: ResearcherRequest) -> HttpResponse:
    if not request.user.has_perm("annotation.add_study"):
        raise PermissionDenied
    draft = DraftForm(request.POST)
    if draft.is_valid():
        try:
            study = _drafted_study(request, draft)
        except Refusal as refusal:
            draft.add_error(None, str(refusal))
        else:
            messages.success(
                request, _("The study was made as planned. Look it over, then start it.")
            )
            return redirect("admin:annotation_study_change", study.pk)
    form = PlanForm.from_query(request.GET)
    context = {"form": form, "pilots": PilotForm(), "draft": draft, **_result(form)}
    return render(request, "scoring/planning/plan.html", context, status=422)


def _result(form: PlanForm, *, checked: bool = False) -> dict[str, Any]:
    """What the page shows of the plan, or the problem."""
    found: dict[str, Any] = {"query": urlencode(form.data)}
    if not form.is_valid():
        return {**found, "problem": _("Correct the marked fields.")}
    try:
        planned = _planned(form, min_coverage=None)
        can_be_checked = _is_small(planned)
        if checked and can_be_checked:
            planned = _planned(form, min_coverage=LEAST_COVERAGE)
    except Refusal as refusal:
        return {**found, "problem": str(refusal)}
    best = planned.recommended.design if planned.recommended else None
    return {
        **found,
        "plan": planned,
        "best": best,
        "best_width": rounded(100 * best.width) if best else "",
        "table": plan_table(planned),
        "too_large": checked and not can_be_checked,
        "figure": inline_svg(plan_figure(planned), _("Width of the interval by annotators")),
    }


def _planned(form: PlanForm, *, min_coverage: float | None) -> Plan:
    return make_plan(
        form.assumptions(), **form.wanted(), contrast=form.contrast(), min_coverage=min_coverage
    )


def _is_small(plan: Plan) -> bool:
    if plan.recommended is None:
        return True
    return plan.recommended.design.annotators * plan.assumptions.max_items <= MOST_CHECKED


def _with_pilot(request: HttpRequest) -> HttpResponse:
    """Back to the page, with the pilot's values in the fields."""
    pilots = PilotForm(request.GET)
    given = {name: str(value) for name, value in request.GET.items() if name != "pilot"}
    if pilots.is_valid():
        try:
            pilot = pilots.read()
        except Refusal as refusal:
            messages.error(request, str(refusal))
        else:
            given |= values_of(pilot)
            taken = _("These values are from %(pilot)s.") % {"pilot": pilot.says}
            messages.success(request, " ".join([taken, *pilot.notes]))
    return HttpResponseRedirect(f"{reverse('scoring:plan')}?{urlencode(given)}")


def _drafted_study(request: ResearcherRequest, form: DraftForm) -> Study:
    found = form.cleaned_data
    draft = Draft(
        task=found["task"],
        shots=found["shots"],
        batches=found["batches"],
        annotators=found["annotators"],
        items=found["items"],
    )
    return draft_study(
        draft,
        slug=found["slug"],
        title=found["title"],
        channel=found["channel"],
        hourly_rate=found["rate"],
        owner=request.user,
    )
