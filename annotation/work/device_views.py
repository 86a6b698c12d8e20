"""The pages by which somebody goes on on another device."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from annotation.access import cookies, throttles
from annotation.access.links import resume_link
from annotation.models import Assignment
from annotation.models.errors import BadInput
from annotation.work.entering import annotators_page, go_on
from annotation.work.frame import picture_of
from annotation.work.moving import CODE_MINUTES, minutes_left, new_code, use_code
from annotation.work.views import at_work

SHOWN = "annotation/work/another_device.html"
TYPED = "annotation/work/enter_code.html"
LIMIT = "wrong_codes_per_address"


@at_work
@require_http_methods(["GET", "POST"])
def another_device(request: HttpRequest, assignment: Assignment) -> HttpResponse:
    """A code is made by a form alone: a page that is only loaded again ends none. What the form
    leads to is a page of its own, to which a browser can go back."""
    if assignment.is_finished:
        return redirect("annotation:work")
    at = timezone.now()
    if request.method == "POST":
        response = redirect("annotation:another_device")
        code = new_code(assignment, at=at)
        cookies.set_device_code(response, code, minutes=CODE_MINUTES)
        return response
    code = cookies.device_code_of(request)
    minutes = minutes_left(code, assignment, at=at)
    link = resume_link(request, assignment)
    context = {
        "study": assignment.study,
        # One that has less than a minute left is no use at another device.
        "code": code if minutes > 1 else "",
        "minutes": minutes,
        "address": request.get_host() + reverse("annotation:enter_code").rstrip("/"),
        "link": link,
        "picture": picture_of(link),
    }
    return render(request, SHOWN, context)


@annotators_page
@require_http_methods(["GET", "HEAD", "POST"])
def enter_code(request: HttpRequest) -> HttpResponse:
    """Where the code is typed, at an address that is short enough for that."""
    if request.method != "POST":
        return render(request, TYPED)
    address = throttles.address_of(request)
    if seconds := throttles.seconds_to_wait(LIMIT, address):
        return _slowed(request, seconds)
    try:
        assignment = use_code(request.POST.get("code", ""), at=timezone.now())
    except BadInput as refusal:
        throttles.count(LIMIT, address)
        context = {"error": str(refusal), "typed": request.POST.get("code", "")}
        return render(request, TYPED, context, status=422)
    return go_on(request, assignment)


def _slowed(request: HttpRequest, seconds: int) -> HttpResponse:
    sentence = _(
        "Very many wrong codes have come from your network. Wait %(minutes)d minutes and type "
        "a new code, or open your personal link: nothing is lost."
    ) % {"minutes": -(-seconds // 60)}
    response = render(request, TYPED, {"error": sentence}, status=429)
    response["Retry-After"] = str(seconds)
    return response
