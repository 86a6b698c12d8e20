"""The form of a run's answers, as the report of its import says it."""

from collections.abc import Mapping, Sequence
from typing import Any

from scoring.comparison.form import EMPTY, MALFORMED, MOST_FREQUENT, OUTSIDE


def form_in_words(report: Mapping[str, Any], choices: Sequence[str]) -> list[str]:
    """One sentence each; nothing is said of what there is none of, or of runs that an older version
    stored."""
    total = report.get("matched", 0)
    lines = [
        sentence % {"count": report[name], "total": total, "choices": ", ".join(choices)}
        for name, sentence in _breaches(bool(choices))
        if report.get(name)
    ]
    most = report.get(MOST_FREQUENT)
    if most and most["count"] > 1:
        lines.append(
            f"{most['count']} of {total} answers are one and the same: "
            f"{answer_in_words(most['answer'])}"
        )
    return lines


def answer_in_words(pieces: Sequence[str]) -> str:
    return ", ".join(f"“{piece}”" for piece in pieces) or "none"


def _breaches(has_choices: bool) -> list[tuple[str, str]]:
    outside = "%(count)d of %(total)d answers hold a text that could not be chosen or given"
    if has_choices:
        outside = "%(count)d of %(total)d answers are not among the choices (%(choices)s)"
    return [
        (MALFORMED, "%(count)d of %(total)d answers have more pieces than may be given"),
        (OUTSIDE, outside),
        (EMPTY, "%(count)d of %(total)d answers are empty, though one is asked for"),
    ]
