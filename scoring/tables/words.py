"""Values as words of a sentence, for pages and documents in English."""

from collections.abc import Collection, Iterable

ENDS = (".", "?", "!", "…")


def with_stop(text: str) -> str:
    """End a text as a sentence, with one stop."""
    return text if not text or text.endswith(ENDS) else f"{text}."


def listed(values: Iterable[object], last: str = " and ") -> str:
    """“a, b and c”."""
    texts = [str(value) for value in values]
    return last.join([", ".join(texts[:-1]), texts[-1]]) if len(texts) > 1 else "".join(texts)


def counted(count: int | None, words: str) -> str:
    """“1 person”, “3 people”, by “person,people”; alone, a word takes an s."""
    one, _, many = words.partition(",")
    return f"{count or 0:,} {one if count == 1 else many or one + 's'}"


def span(numbers: Collection[int]) -> str:
    """“3”, or “3 to 6”; empty of none."""
    return " to ".join(str(one) for one in sorted({min(numbers), max(numbers)})) if numbers else ""
