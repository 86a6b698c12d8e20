"""What a submitted form says, checked against the example that it answers."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from annotation.models import Kind
from annotation.models.errors import BadInput
from annotation.models.frozen import BatchContent, FrozenExample
from scoring.core.spans import check_spans


@dataclass(frozen=True)
class Answer:
    """The texts that S1 compares, and where in the context they stand if selected there."""

    texts: tuple[str, ...]
    spans: tuple[tuple[int, int, int], ...] = ()


@dataclass(frozen=True)
class RawAnswer:
    """An answer as a browser sends it."""

    option: int | None = None
    spans: Sequence[object] | None = None
    none: bool = False
    # Pieces typed or pasted, one a line: the plain way without JavaScript.
    typed: str = ""


def read_answer(raw: RawAnswer, example: FrozenExample, content: BatchContent) -> Answer:
    """The answer, or BadInput with a sentence for the annotator."""
    if content.kind == Kind.SPANS:
        return _read_spans(raw, example, content.max_spans)
    return _read_option(raw, example)


def _read_option(raw: RawAnswer, example: FrozenExample) -> Answer:
    if raw.option is None:
        raise BadInput(_("Choose one answer, then send it."))
    if not 0 <= raw.option < len(example.options):
        raise BadInput(_("This answer is not among the choices. Choose one of them."))
    return Answer(texts=(example.options[raw.option],))


def _read_spans(raw: RawAnswer, example: FrozenExample, max_spans: int | None) -> Answer:
    spans = list(raw.spans or []) or _find_typed(raw.typed, example.context)
    if raw.none and spans:
        raise BadInput(_("You chose “none here” and also selected text. Keep one of the two."))
    if not raw.none and not spans:
        raise BadInput(_("Select a piece of the text, or choose “none here”."))
    try:
        texts = check_spans(example.context, spans)
    except ValueError as error:
        raise BadInput(
            _("The selection does not match the text. Reload the page and select it again.")
        ) from error
    if max_spans is not None and len(texts) > max_spans:
        raise BadInput(_("Select at most %(count)d piece of text.") % {"count": max_spans})
    unique = dict.fromkeys((s, start, end) for s, start, end in spans)
    return Answer(texts=tuple(dict.fromkeys(texts)), spans=tuple(unique))


def _find_typed(typed: str, context: Sequence[str]) -> list[object]:
    found: list[object] = []
    for line in filter(None, (line.strip() for line in typed.splitlines())):
        place = _first_place(line, context)
        if place is None:
            raise BadInput(
                _("“%(piece)s” is not in the text. Copy it exactly as it stands there.")
                % {"piece": line[:80]}
            )
        found.append(place)
    return found


def _first_place(piece: str, context: Sequence[str]) -> list[int] | None:
    for segment, text in enumerate(context):
        start = text.find(piece)
        if start >= 0:
            return [segment, start, start + len(piece)]
    return None
