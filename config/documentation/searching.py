"""A search through docs/: sections ranked by Okapi BM25 (Robertson and Zaragoza 2009) over the
stems of their words, with what each word of this field is called elsewhere."""

import re
from collections import Counter
from functools import cache
from itertools import pairwise
from math import log
from typing import Any

from django.utils.text import Truncator
from snowballstemmer import stemmer

from annotation.models.texts import described_beside
from config.documentation import pages

MOST_FOUND = 20
# Paragraphs and cells of a section.
BETWEEN = "\n\n"
LONGEST_QUERY = 100
# BM25's usual constants: how soon a word counts no more, how much a long section is marked down.
SATURATION, BY_LENGTH = 1.2, 0.75
# A word in a heading says what a section is about, one in the title what its page is.
IN_HEADING, IN_TITLE = 5, 3
# A word that means the same counts less than the one that was asked for.
SYNONYM = 0.6
_KNOWN: dict[str, Any] = described_beside(__file__)
_IGNORED = frozenset(_KNOWN["ignored"].split())
_STEMMER = stemmer("english")
# With its title, heading, address and text.
Section = dict[str, str]


def search(query: str) -> list[Section]:
    """The best sections first, each with the lines in which it answers."""
    asked = _meant(query[:LONGEST_QUERY])
    scored = [(_score(number, asked), number) for number in range(len(_sections()))]
    best = sorted(((score, -number) for score, number in scored if score), reverse=True)
    sections = [_sections()[-number] for _, number in best[:MOST_FOUND]]
    return [{**section, "excerpt": _excerpt(section["text"], [*asked])} for section in sections]


def _stems(text: str) -> list[str]:
    words = re.findall(r"[^\W_]+", text.casefold())
    stems: list[str] = _STEMMER.stemWords([word for word in words if word not in _IGNORED])
    return stems


@cache
def _same() -> list[list[list[str]]]:
    """The ways to say each meaning, as stems."""
    return [[_stems(words) for words in (first, *ways)] for first, ways in _KNOWN["same"].items()]


def _meant(query: str) -> dict[str, float]:
    """The stems that are looked for, and what each counts."""
    words = _stems(query)
    meant = dict.fromkeys(words, 1.0)
    for phrases in _same():
        if any(_holds(words, phrase) for phrase in phrases):
            for stem in {stem for phrase in phrases for stem in phrase}:
                meant.setdefault(stem, SYNONYM / max(map(len, phrases)))
            # What this project calls it.
            meant |= dict.fromkeys(phrases[0], 1.0)
    return meant


def _holds(words: list[str], phrase: list[str]) -> bool:
    """Whether the words stand there, one after the other."""
    return bool(phrase) and any(words[at : at + len(phrase)] == phrase for at in range(len(words)))


def _score(number: int, asked: dict[str, float]) -> float:
    counts, length, average, rarity = _index()
    stems = counts[number]
    stretch = SATURATION * (1 - BY_LENGTH + BY_LENGTH * length[number] / average)
    score = sum(
        worth * rarity[stem] * stems[stem] * (SATURATION + 1) / (stems[stem] + stretch)
        for stem, worth in asked.items()
        if stem in stems
    )
    page, _, _ = _sections()[number]["address"].partition("/#")
    fitting = [name for name in _KNOWN["worth"] if page.startswith(name)]
    return score * float(_KNOWN["worth"][max(fitting, key=len)] if fitting else 1)


@cache
def _index() -> tuple[list[Counter[str]], list[int], float, dict[str, float]]:
    """The counts of each section's stems, and its length; the average length; and how rare each
    stem is."""
    counts, lengths = [], []
    for section in _sections():
        text = _stems(section["text"])
        lengths.append(len(text))
        heading, title = Counter(_stems(section["heading"])), Counter(_stems(section["title"]))
        weighed = Counter(text)
        weighed.update({stem: IN_HEADING * many for stem, many in heading.items()})
        weighed.update({stem: IN_TITLE * many for stem, many in title.items()})
        counts.append(weighed)
    among = Counter(stem for stems in counts for stem in stems)
    total = len(counts)
    rarity = {stem: log(1 + (total - many + 0.5) / (many + 0.5)) for stem, many in among.items()}
    return counts, lengths, sum(lengths) / total, rarity


def _excerpt(text: str, stems: list[str]) -> str:
    """A text from the beginning of the paragraph that holds most of what is asked."""
    paragraphs = text.split(BETWEEN)
    hits = [len({*_stems(part)} & {*stems}) for part in paragraphs]
    return Truncator(" ".join(paragraphs[hits.index(max(hits)) :]).replace("\n", " ")).chars(240)


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
                "text": BETWEEN.join(one.content for one in tokens[start + 2 : end] if one.content),
            }
            sections.append(section)
    return sections
