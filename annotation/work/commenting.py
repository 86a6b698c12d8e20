"""Commenting: what annotators tell the people who run the study, beside their answers."""

from datetime import datetime

from django.utils.translation import gettext as _

from annotation.models import Assignment, Comment, WorkState
from annotation.models.errors import BadInput
from annotation.models.frozen import sequence

LONGEST = 2_000
# More is no conversation, but a script.
MOST = 100
_SHOWS_AN_EXAMPLE = (WorkState.ANSWERING, WorkState.REVEALED)


def add_comment(assignment: Assignment, *, text: str, step: int | None, at: datetime) -> Comment:
    """Store a comment on the example of a step, or on the whole. Raises BadInput.

    It leaves the assignment alone: no time is counted for it, and no place is kept by it.
    """
    text = text.replace("\0", "").strip()
    if not text:
        raise BadInput(_("Nothing is written yet: say what you want to tell."))
    if len(text) > LONGEST:
        raise BadInput(
            _("That is %(length)d characters long: shorten it to %(longest)d.")
            % {"length": len(text), "longest": LONGEST}
        )
    if assignment.annotator.erased_at is not None:
        raise BadInput(_("Everything that you wrote has been erased, and nothing more is kept."))
    if assignment.comments.count() >= MOST:
        raise BadInput(_("You have written very often: write to the people who run the study."))
    # Only examples that have been shown: the server knows how far that is.
    shown = step is not None and step <= assignment.step
    order = sequence(assignment.batch_id, assignment.order_seed)
    example = order[step].pk if step is not None and shown else None
    return Comment.objects.create(
        assignment=assignment, example_id=example, text=text, written_at=at
    )


def example_to_comment(assignment: Assignment) -> int | None:
    """The step whose example is before somebody, if one is."""
    return assignment.step if assignment.state in _SHOWS_AN_EXAMPLE else None
