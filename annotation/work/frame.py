"""What stands around each step: the window's title, the personal link, word of a closing."""

from collections.abc import Callable
from datetime import datetime
from functools import lru_cache
from typing import Any

import segno
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from annotation.models import Assignment, Role, WorkState
from annotation.models.frozen import batch_content
from annotation.work.ending import heading_of
from annotation.work.page import progress


def page_frame(assignment: Assignment, *, link: str, at: datetime) -> dict[str, Any]:
    return {
        "title": page_title(assignment),
        "link": link,
        "minutes_left": _minutes_left(assignment, at),
    }


def page_title(assignment: Assignment) -> str:
    return _TITLES[assignment.state](assignment)


@lru_cache(maxsize=256)
def picture_of(link: str) -> SafeString:
    """A QR code: from the screen of one device into the camera of another."""
    code = segno.make_qr(link, error="m")
    return mark_safe(code.svg_inline(scale=4, border=4, dark="#000", light="#fff", omitsize=True))


def _minutes_left(assignment: Assignment, at: datetime) -> int | None:
    """Once the study is closed: for how long the page on the screen may still be sent."""
    until = assignment.study.sends_until
    if assignment.is_finished or until is None:
        return None
    return max(1, -(-int((until - at).total_seconds()) // 60))


def _of_description(assignment: Assignment) -> str:
    return _("Practice is over") if assignment.step else _("What to do")


def _of_example(assignment: Assignment) -> str:
    here = progress(assignment, batch_content(assignment.batch_id))
    place = {"number": here.number, "total": here.total}
    if here.role == Role.TRAINING:
        return _("Practice %(number)d of %(total)d") % place
    if here.has_training:
        return _("Test %(number)d of %(total)d") % place
    return _("Example %(number)d of %(total)d") % place


def _of_reveal(assignment: Assignment) -> str:
    return _("Right answer to %(example)s") % {"example": _of_example(assignment)}


_TITLES: dict[str, Callable[[Assignment], str]] = {
    WorkState.DESCRIPTION: _of_description,
    WorkState.ANSWERING: _of_example,
    WorkState.REVEALED: _of_reveal,
    WorkState.FINISHED: lambda assignment: heading_of(assignment.outcome),
}
