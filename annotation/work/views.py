"""The pages of somebody at work. Addresses are the same for everybody: the server knows the
position of the browser's assignment, and shows that."""

from functools import cache, partial, wraps

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from django.views.i18n import set_language

from annotation.access import cookies, throttles
from annotation.access.requests import HtmxRequest, resume_link
from annotation.kinds.base import Form
from annotation.models import Assignment, WorkState, clock
from annotation.models.errors import BadInput
from annotation.models.frozen import batch_content
from annotation.work import judging, page
from annotation.work.closing_page import ending_if_withdrawn
from annotation.work.commenting import LONGEST, add_comment, example_to_comment
from annotation.work.device_codes import CODE_MINUTES, minutes_left, new_code, use_code
from annotation.work.entering import View, annotators_page, go_on, to_work
from annotation.work.finishing import withdraw as withdraw_assignment
from annotation.work.judging import BrowserTimes
from annotation.work.links import leads_to
from annotation.work.refusing import REFUSED
from annotation.work.speaking import speak
from annotation.work.wording import hours_text, seconds_text

# What an annotator's forms carry is read by hand: these few fields come with every answer, and
# Django's forms would take a sixth of a step's time.
_LONGEST_MS = 2**31 - 1
_MOST_COUNTED = 2**15 - 1


def read_step(post: QueryDict) -> int:
    step = _whole_number(post.get("step", ""))
    if step is None:
        raise BadInput(_("This form could not be read. Reload the page and send it again."))
    return step


def read_sent_answer(post: QueryDict) -> tuple[int, Form, BrowserTimes]:
    """Everything that an answer's form carries: its step, the fields from which the kind of the
    task reads its own, and the browser's times. Raises BadInput with a sentence to show."""
    names = ("browser_ms", "first_action_ms", "active_ms")
    times = {name: _milliseconds(post.get(name, "")) for name in names}
    # `typed` is a field of answers that are typed without scripts.
    for name, sent in (("pastes", "pastes"), ("typed", "keyed")):
        count = _whole_number(post.get(sent, ""))
        times[name] = None if count is None else min(count, _MOST_COUNTED)
    times["decoy"] = bool(post.get("assistant", "").strip()) if "assistant" in post else None
    times["translated"] = {"0": False, "1": True}.get(post.get("translated", ""))
    return read_step(post), {name: post.get(name, "") for name in post}, times


def _milliseconds(text: str) -> int | None:
    """The browser's clock may say anything: what cannot be stored counts as unknown, and no answer
    is ever refused for it."""
    value = _whole_number(text)
    return value if value is not None and value <= _LONGEST_MS else None


def _whole_number(text: str) -> int | None:
    # No step, option or time of ours has more digits than this.
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 12 else None


# A break is proposed each time that so much more has been worked.
BREAK_AFTER_MS = 20 * 60_000
STOP = "annotation/work/stop.html"
COMMENT = "annotation/work/comment.html"
LINKS = {name: f"annotation:join_{name}" for name in ("study", "batch", "pool")}


def at_work(view: View) -> View:
    """Hand the view the browser's assignment; without one, say how to get back in."""

    @annotators_page
    @wraps(view)
    def with_assignment(request: HttpRequest) -> HttpResponse:
        try:
            assignment = cookies.assignment_of(request)
        except cookies.OtherWork:
            sentence = _(
                "This page belongs to other work in this browser. Nothing was stored: go back, and "
                "open the personal link at the bottom of that page."
            )
            return _refused(request, sentence)
        if assignment is None:
            sentence = _(
                "This browser is not taking part in a study. If you have begun before, open your "
                "personal link; otherwise open the link that you were given."
            )
            return _refused(request, sentence)
        speak(request, {batch_content(assignment.batch_id).language})
        judging.notice_end(assignment, at=clock.now())
        response: HttpResponse = view(request, assignment)
        return response

    return with_assignment


def _refused(request: HttpRequest, sentence: str) -> HttpResponse:
    return render(request, REFUSED, {"sentence": sentence, "may_have_begun": True}, status=403)


@at_work
@require_GET
def work(request: HtmxRequest, assignment: Assignment) -> HttpResponse:
    return _page(request, assignment)


def step_forward(view: View) -> View:
    """What a form sends, and then the next page: with htmx at once; otherwise by a redirect to it,
    so that a reload repeats nothing. Refused, the same page says why."""

    @at_work
    @require_POST
    @wraps(view)
    def with_next_page(request: HtmxRequest, assignment: Assignment) -> HttpResponse:
        try:
            notice: str = view(request, assignment)
        except BadInput as refusal:
            return _page(request, assignment, error=str(refusal))
        if request.htmx or notice:
            return _page(request, assignment, notice=notice)
        return to_work(assignment.pk)

    return with_next_page


@step_forward
def begin(request: HtmxRequest, assignment: Assignment) -> str:
    # The task description stands before step 0, and its form needs none.
    step = read_step(request.POST) if "step" in request.POST else 0
    judging.begin(assignment, step=step, at=clock.now())
    return ""


@step_forward
def submit(request: HtmxRequest, assignment: Assignment) -> str:
    now = clock.now()
    step, form, times = read_sent_answer(request.POST)
    judgement = judging.submit_answer(assignment, step=step, form=form, times=times, at=now)
    is_ours = judgement is not None and judgement.submitted_at == now
    cap_s = assignment.study.item_cap_s
    if is_ours and judgement is not None and judgement.paid_ms >= 1000 * cap_s:
        sentence = _("The last item took more than %(time)s: the rest counted as a pause.")
        return sentence % {"time": seconds_text(cap_s)}
    if is_ours and judgement is not None and _is_time_for_break(assignment, judgement.paid_ms):
        return _(
            "You have worked for %(worked)s. Take a break if you like: your place is kept for "
            "%(kept)s. A pause is not paid: on this page at most %(cap)s are."
        ) % {
            "worked": hours_text(assignment.paid_ms // 60_000),
            "kept": hours_text(assignment.study.lease_minutes),
            "cap": seconds_text(cap_s),
        }
    if is_ours or not judging.counts_otherwise(assignment, step=step, form=form):
        return ""
    return _(
        "You had already answered that item in another tab or on another device: that answer "
        "counts, and the one that you have just sent does not."
    )


def _is_time_for_break(assignment: Assignment, last_ms: int) -> bool:
    """Whether the last answer completed another stretch of work, and more is to come."""
    stretches = (assignment.paid_ms - last_ms) // BREAK_AFTER_MS
    return not assignment.is_finished and assignment.paid_ms // BREAK_AFTER_MS > stretches


@step_forward
def proceed(request: HtmxRequest, assignment: Assignment) -> str:
    judging.leave_reveal(assignment, step=read_step(request.POST), at=clock.now())
    return ""


@at_work
@require_http_methods(["GET", "POST"])
def withdraw(request: HtmxRequest, assignment: Assignment) -> HttpResponse:
    """Asks once more before anything is lost."""
    if request.method == "POST" and "sure" in request.POST:
        withdraw_assignment(assignment, at=clock.now())
    if assignment.is_finished:
        return to_work(assignment.pk)
    ending = ending_if_withdrawn(assignment, at=clock.now())
    return render(request, STOP, {**_whose_page(assignment), "ending": ending})


@at_work
@require_http_methods(["GET", "POST"])
def comment(request: HtmxRequest, assignment: Assignment) -> HttpResponse:
    """A page of its own, so that what is written there can't disturb an answer."""
    text, error, step = request.POST.get("text", ""), "", example_to_comment(assignment)
    if request.method == "POST":
        try:
            step = read_step(request.POST) if "step" in request.POST else None
            add_comment(assignment, text=text, step=step, at=clock.now())
            return redirect(cookies.address_with_work("annotation:comment_thanks", assignment.pk))
        except BadInput as refusal:
            error = str(refusal)
    context = {
        **_whose_page(assignment),
        "longest": LONGEST,
        "step": step,
        **(_asked(assignment) if step is not None and step == assignment.step else {}),
        "text": text,
        "error": error,
    }
    return render(request, COMMENT, context, status=422 if error else 200)


def _asked(assignment: Assignment) -> dict[str, object]:
    """The example that a problem is about, as it was asked."""
    example = judging.current_example(assignment)
    content = batch_content(assignment.batch_id).task_of(example)
    return {"about": page.page_title(assignment), "example": example, "content": content}


@at_work
@require_GET
def comment_thanks(request: HtmxRequest, assignment: Assignment) -> HttpResponse:
    return render(request, COMMENT, {**_whose_page(assignment), "is_stored": True})


@at_work
@require_POST
def leave(request: HtmxRequest, assignment: Assignment) -> HttpResponse:
    """Make room for somebody else at this browser. The work stays as it is, and its link leads
    back."""
    response: HttpResponse
    arrival = cookies.arrival_of(request)
    if arrival is not None and leads_to(arrival, assignment.study):
        # There somebody new can begin, and whoever has begun is asked who they are.
        response = redirect(LINKS[arrival.way], arrival.token)
    else:
        sentence = _("This browser has left that work. Now open the link that you were given.")
        context = {"study": assignment.study, "sentence": sentence}
        response = render(request, REFUSED, context)
    cookies.sign_out(request, response, assignment)
    return response


@annotators_page
@require_POST
def choose_language(request: HttpRequest) -> HttpResponse:
    return set_language(request)


def _whose_page(assignment: Assignment) -> dict[str, object]:
    """Whose page it is, for what it shows, its forms and its links."""
    return {
        "study": assignment.study,
        "assignment": assignment,
        "work": cookies.digest_of(assignment.pk),
    }


# What the form of a state's page leads to.
ACTS = {
    WorkState.DESCRIPTION: "begin",
    WorkState.ANSWERING: "submit",
    WorkState.REVEALED: "proceed",
}


@cache
def _sent_to(state: str) -> str:
    return reverse(f"annotation:{ACTS[WorkState(state)]}") if state in ACTS else ""


def _page(
    request: HtmxRequest, assignment: Assignment, *, error: str = "", notice: str = ""
) -> HttpResponse:
    token, sent_to = request.POST.get("csrfmiddlewaretoken", ""), _sent_to(assignment.state)
    answers_next = assignment.state == WorkState.ANSWERING and not (error or notice)
    if request.htmx and token and answers_next:
        work = cookies.digest_of(assignment.pk)
        html = page.next_item_html(assignment, token=token, work=work, sent_to=sent_to)
        return HttpResponse(html)
    template = f"{page.PAGE}#step" if request.htmx else page.PAGE
    frame = page.page_frame(assignment, at=clock.now())
    context = {**page.page_context(assignment), **frame, **_whose_page(assignment)}
    context |= {"error": error, "notice": notice}
    context["sent_to"] = sent_to
    if request.htmx and token:
        # It was right, and a new disguise for it takes a tenth of a step.
        context["csrf_token"] = token
    context["link"] = partial(resume_link, request, assignment)
    return render(request, template, context, status=422 if error else 200)


SHOWN = "annotation/work/another_device.html"
TYPED = "annotation/work/enter_code.html"
LIMIT = "wrong_codes_per_address"


@at_work
@require_http_methods(["GET", "POST"])
def another_device(request: HttpRequest, assignment: Assignment) -> HttpResponse:
    """A code is made by a form alone: a page that is only loaded again ends none. What the form
    leads to is a page of its own, to which a browser can go back."""
    if assignment.is_finished:
        return to_work(assignment.pk)
    at = clock.now()
    if request.method == "POST":
        response = redirect(cookies.address_with_work("annotation:another_device", assignment.pk))
        code = new_code(assignment, at=at)
        cookies.set_device_code(response, code, assignment, minutes=CODE_MINUTES)
        return response
    code = cookies.device_code_of(request, assignment)
    minutes = minutes_left(code, assignment, at=at)
    link = resume_link(request, assignment)
    context = {
        **_whose_page(assignment),
        # One that has less than a minute left is no use at another device.
        "code": code if minutes > 1 else "",
        "minutes": minutes,
        "address": request.get_host() + reverse("annotation:enter_code").rstrip("/"),
        "link": link,
        "picture": page.picture_of(link),
    }
    return render(request, SHOWN, context)


@annotators_page
@require_http_methods(["GET", "HEAD", "POST"])
def enter_code(request: HttpRequest) -> HttpResponse:
    """Ask for the code, at an address that is short enough to be typed."""
    if request.method != "POST":
        return render(request, TYPED)
    address = throttles.address_of(request)
    if seconds := throttles.seconds_to_wait(LIMIT, address):
        sentence = _(
            "Very many wrong codes have come from your network. Wait %(minutes)d minutes and type "
            "a new code, or open your personal link: nothing is lost."
        ) % {"minutes": -(-seconds // 60)}
        return throttles.later(render(request, TYPED, {"error": sentence}, status=429), seconds)
    try:
        assignment = use_code(request.POST.get("code", ""), at=clock.now())
    except BadInput as refusal:
        throttles.count(LIMIT, address)
        context = {"error": str(refusal), "typed": request.POST.get("code", "")}
        return render(request, TYPED, context, status=422)
    return go_on(request, assignment)
