"""What an annotator's forms carry, before any rule is applied to it.

Read by hand: these few fields come with every answer, and Django's forms would take a sixth of a
step's time.
"""

from dataclasses import dataclass

from django.http import QueryDict
from django.utils.translation import gettext as _

from annotation.kinds.base import Form
from annotation.models.errors import BadInput
from annotation.work.judging import BrowserTimes

_LONGEST_MS = 2**31 - 1
_MOST_PASTES = 2**15 - 1


@dataclass(frozen=True)
class SentAnswer:
    step: int
    # The kind of the task reads its own from these.
    fields: Form
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
        fields={name: post.get(name, "") for name in post},
        times=BrowserTimes(
            browser_ms=_milliseconds(post.get("browser_ms", "")),
            first_action_ms=_milliseconds(post.get("first_action_ms", "")),
            active_ms=_milliseconds(post.get("active_ms", "")),
            pastes=_count(post.get("pastes", "")),
        ),
    )


def _milliseconds(text: str) -> int | None:
    """The browser's clock may say anything: what cannot be stored counts as unknown, and no answer
    is ever refused for it."""
    value = _whole_number(text)
    return value if value is not None and value <= _LONGEST_MS else None


def _count(text: str) -> int | None:
    value = _whole_number(text)
    return None if value is None else min(value, _MOST_PASTES)


def _whole_number(text: str) -> int | None:
    # No step, option or time of ours has more digits than this.
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 12 else None
