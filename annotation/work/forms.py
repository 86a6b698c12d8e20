"""What an annotator's forms carry, before any rule is applied to it.

Read by hand: these few fields come with every answer, and Django's forms would take a sixth of a
step's time.
"""

import json
from dataclasses import dataclass

from django.http import QueryDict
from django.utils.translation import gettext as _

from annotation.kinds.answers import RawAnswer
from annotation.models.errors import BadInput
from annotation.work.judging import BrowserTimes

_LONGEST_MS = 2**31 - 1


@dataclass(frozen=True)
class SentAnswer:
    step: int
    raw: RawAnswer
    times: BrowserTimes


def read_step(post: QueryDict) -> int:
    """The step number: the form's idempotency key. Raises BadInput."""
    step = _whole_number(post.get("step", ""))
    if step is None:
        raise BadInput(_("This form could not be read. Reload the page and send it again."))
    return step


def read_sent_answer(post: QueryDict) -> SentAnswer:
    """Everything that an answer's form carries. Raises BadInput with a sentence for the
    annotator."""
    return SentAnswer(
        step=read_step(post),
        raw=RawAnswer(
            option=_option(post.get("option", "")),
            spans=_spans(post.get("spans", "")),
            # The picker's hidden field comes first, then the plain text box.
            none=post.get("none") == "1",
            typed=post.get("typed", ""),
        ),
        times=BrowserTimes(
            browser_ms=_milliseconds(post.get("browser_ms", "")),
            first_action_ms=_milliseconds(post.get("first_action_ms", "")),
            active_ms=_milliseconds(post.get("active_ms", "")),
        ),
    )


def _option(text: str) -> int | None:
    if not text:
        return None
    option = _whole_number(text)
    if option is None:
        raise BadInput(_("This answer is not among the choices. Choose one of them."))
    return option


def _spans(text: str) -> list[object]:
    try:
        spans = json.loads(text or "[]")
    except (ValueError, RecursionError):
        spans = None
    if not isinstance(spans, list):
        raise BadInput(_("The selection could not be read. Reload the page and select it again."))
    return spans


def _milliseconds(text: str) -> int | None:
    """The browser's clock may say anything: what cannot be stored counts as unknown, and no answer
    is ever refused for it."""
    value = _whole_number(text)
    return value if value is not None and value <= _LONGEST_MS else None


def _whole_number(text: str) -> int | None:
    # No step, option or time of ours has more digits than this.
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 12 else None
