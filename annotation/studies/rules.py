"""The rules between the settings of a study, for its form and its file alike; what one number must
be stands in annotation/models/settings.toml."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from annotation.models import DropUnit, Outcome

NO_REASON = "The margin has no reason: write one in a sentence."
# A system's name, and its method behind it.
MOST_CHARACTERS = 200 + len(" other")
# Anyone who did the training is paid for it, whatever the result.
ALWAYS_PAID = frozenset({Outcome.COMPLETED, Outcome.SCREENED_OUT})
PAID_FOR_TIME = "Anyone who did the training is paid for the time, passed or not."


def names_once(parts: Iterable[str]) -> list[str]:
    """Names of systems, each once, however it is written."""
    names: dict[str, str] = {}
    for part in parts:
        name = " ".join(part.split())
        names.setdefault(name.casefold(), name)
    return list(names.values())


def broken_rules(values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Columns whose values break a rule, each with a sentence; what is not there breaks none."""
    currency = values.get("currency", "USD")
    if not (len(currency) == 3 and currency.isalpha() and currency.isascii()):
        yield "currency", "Write the currency as three letters, such as USD or EUR."
    if values.get("margin") and not values.get("margin_reason", "reason"):
        yield "margin_reason", NO_REASON
    if values.get("drop_unit") == DropUnit.POINTS and (values.get("max_drop") or 0) > 100:
        yield "max_drop", "A drop in points is at most 100: scores are in percent."
    if "" in values.get("clusters", {}).values():
        yield "clusters", "A group is missing: write a line a task, such as “ner: document”."
    for name in values.get("named_systems", []):
        if len(name) > MOST_CHARACTERS:
            sentence = f"A system's name has at most {MOST_CHARACTERS} characters: shorten "
            yield "named_systems", f"{sentence}“{name[:30]}…”."
