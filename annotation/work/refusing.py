"""Whom a link lets in no further is told why, before any work, with the code where there is one."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from annotation.access import throttles
from annotation.access.cookies import Arrival
from annotation.models import JoinAnswer, Study
from annotation.models.errors import NoEntry
from annotation.work import joining
from annotation.work.closing_page import code_of, pay_without_work
from annotation.work.links import JoinLink

REFUSED = "annotation/work/refused.html"


def refused_stranger(request: HttpRequest, study: Study) -> HttpResponse:
    sentence = _(
        "Somebody with your id on %(channel)s has begun this study already, in another browser. "
        "If that was you, go on in that browser, or open the personal link that was shown there: "
        "the code at the end counts however often you have opened the study. If you have neither, "
        "write to the people who run the study: they can give you a new link."
    ) % {"channel": study.channel.name}
    return refused(request, study, sentence, status=403, may_have_begun=True)


def slowed(request: HttpRequest, act: str, link: JoinLink) -> HttpResponse | None:
    """The page that asks to wait, if too much came from this address or by this link."""
    address, token = throttles.address_of(request), f"{link.name} {link.token}"
    limits = {f"{act}_per_address": address, f"{act}_per_link": token}
    seconds = max(throttles.seconds_to_wait(*limit) for limit in limits.items())
    if not seconds:
        for limit in limits.items():
            throttles.count(*limit)
        return None
    sentence = _(
        "Very many people come from your network, or by this link, at the moment. Wait "
        "%(minutes)d minutes and load this page again: nothing is lost."
    ) % {"minutes": -(-seconds // 60)}
    return throttles.later(refused(request, link.study, sentence, status=429), seconds)


def refused_place(
    request: HttpRequest, arrival: Arrival, link: JoinLink, refusal: NoEntry
) -> HttpResponse:
    answer, pay = JoinAnswer.FULL if isinstance(refusal, joining.Full) else None, ""
    if isinstance(refusal, joining.Worked):
        pay = _("Your earlier work is paid as you are told when it ends.")
        if arrival.submission_id:
            pay += " " + _(
                "If your earlier submission ended on %(channel)s before you could hand its code "
                "in, write to the people who run the study: name the submission %(id)s."
            ) % {"channel": link.study.channel.name, "id": arrival.submission_id}
    return refused(
        request, link.study, str(refusal), answer=answer, pay=pay, is_plain=link.is_plain
    )


def refused(
    request: HttpRequest,
    study: Study,
    sentence: str,
    *,
    status: int = 200,
    answer: JoinAnswer | None = None,
    pay: str = "",
    **more: object,
) -> HttpResponse:
    """Said before any work, with the code of the answer where there is one."""
    context: dict[str, object] = {"study": study, "sentence": sentence, **more}
    if answer is not None:
        pay = pay or pay_without_work(study, answer)
        context |= {"code": code_of(study, answer), "pay": pay}
    return render(request, REFUSED, context, status=status)
