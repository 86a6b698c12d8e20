"""A search through docs/: the sections that hold most of the words asked for, the best first."""

import re
from functools import cache
from itertools import pairwise

from django.utils.text import Truncator

from config.documentation import pages

MOST_FOUND = 20
LONGEST_QUERY = 100
# A word in a heading says what a section is about, and a whole word what was asked for.
IN_HEADING = 10
WHOLE = 5
MOST_COUNTED = 5
# With its title, heading, address and text.
Section = dict[str, str]


def search(query: str) -> list[Section]:
    words = query[:LONGEST_QUERY].casefold().split()
    scored = [(_score(section, words), section) for section in _sections()]
    most, _ = max(score for score, _ in scored)
    found = sorted((one for one in scored if most and one[0][0] == most), key=lambda one: one[0])
    best = [section for _, section in reversed(found[-MOST_FOUND:])]
    return [{**section, "excerpt": _excerpt(section["text"], words[0])} for section in best]


def _score(section: Section, words: list[str]) -> tuple[int, int]:
    """How many of the words it holds, and how well."""
    heading, text = section["heading"].casefold(), section["text"].casefold()
    counts = [IN_HEADING * _count(heading, word) + _count(text, word) for word in words]
    return sum(map(bool, counts)), sum(counts)


def _count(text: str, word: str) -> int:
    """Within other words too, so that “release” finds “released”, but for less."""
    whole = re.findall(rf"\b{re.escape(word)}\b", text)
    return min(text.count(word), MOST_COUNTED) + WHOLE * min(len(whole), MOST_COUNTED)


def _excerpt(text: str, word: str) -> str:
    """From the beginning of the line in which it is."""
    place = max(text.casefold().find(word), 0)
    return Truncator(text[text.rfind("\n", 0, place) + 1 :].replace("\n", " ")).chars(160)


@cache
def _sections() -> list[Section]:
    sections = []
    for page in pages.page_names():
        tokens = pages.tokens_of(page)
        starts = [n for n, token in enumerate(tokens) if token.type == "heading_open"]
        for start, end in pairwise([*starts, len(tokens)]):
            section = {
                "title": pages.title(page),
                "heading": tokens[start + 1].content.replace("`", ""),
                "address": pages.address(f"{page}.md#{tokens[start].attrs['id']}"),
                "text": "\n".join(one.content for one in tokens[start + 2 : end] if one.content),
            }
            sections.append(section)
    return sections
