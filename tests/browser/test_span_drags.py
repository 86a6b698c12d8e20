"""What a drag takes, by all tokens of a text, beside what a slow oracle takes."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings
from hypothesis import given
from hypothesis import strategies as st
from playwright.sync_api import Page

from annotation.kinds.spans import boundaries
from scoring.core.spans import Token, tokens_of
from tests.browser.picker import open_in


@cache  # asked for every pair of a text's words
def pieces(text: str) -> list[str]:
    return [text[token.start : token.end] for token in tokens_of(text)]


CLOSERS = dict(zip(")]}）］」』】》〉", "([{（［「『【《〈", strict=True))
FAMILIES = ['"“”„‟＂', "'‘’‚‛", "«»", "‹›"]


def kind_of(piece: str) -> str:
    family = next((family for family in FAMILIES if piece and piece in family), None)
    return family or CLOSERS.get(piece, piece)


def slow_partners(row: list[str]) -> tuple[dict[int, int], set[int]]:
    """For each mark its partner, and the marks that have none; by looking back at every closer."""
    partner: dict[int, int] = {}
    dropped: set[int] = set()
    marks = [i for i, piece in enumerate(row) if len(piece) == 1 and is_mark(piece)]
    for i in marks:
        quotes = kind_of(row[i]) in FAMILIES
        if not quotes and row[i] not in CLOSERS:
            continue
        for j in reversed([m for m in marks if m < i and m not in partner and m not in dropped]):
            if kind_of(row[j]) == kind_of(row[i]) and (quotes or row[j] not in CLOSERS):
                partner |= {i: j, j: i}
                dropped |= {m for m in marks if j < m < i and m not in partner and opens(row[m])}
                break
    return partner, {m for m in marks if m not in partner and m not in dropped}


def is_mark(piece: str) -> bool:
    return kind_of(piece) in FAMILIES or piece in CLOSERS or piece in CLOSERS.values()


def opens(piece: str) -> bool:
    return piece not in CLOSERS


def slow_snap(text: str, start: int, end: int) -> tuple[int, int]:
    """What a drag from the start of a token to the end of a token takes."""
    tokens = tokens_of(text)
    touched = [i for i, t in enumerate(tokens) if t.start < end and start < t.end]
    row = pieces(text)
    if any(not tokens[i].is_punctuation for i in touched):
        partner, _ = slow_partners([row[i] for i in touched])
        keep = [n for n, i in enumerate(touched) if n in partner or not tokens[i].is_punctuation]
        touched = touched[keep[0] : keep[-1] + 1]
    first, last = touched[0], touched[-1]
    while True:
        _, alone = slow_partners(row[first : last + 1])
        waiting = [row[first + m] for m in alone]
        after = directly_after(text, last)
        if after is not None and any(opens(w) and closes(row[after], w) for w in waiting):
            last = after
        elif joined(tokens, first - 1) and any(closes(w, row[first - 1]) for w in waiting):
            first -= 1
        else:
            return tokens[first].start, tokens[last].end


def closes(closer: str, opener: str) -> bool:
    quotes = kind_of(closer) in FAMILIES
    return kind_of(closer) == kind_of(opener) and (
        quotes or (closer in CLOSERS and opener not in CLOSERS)
    )


def joined(tokens: tuple[Token, ...], i: int) -> bool:
    return 0 <= i < len(tokens) - 1 and tokens[i].end == tokens[i + 1].start


def directly_after(text: str, i: int) -> int | None:
    row, tokens = pieces(text), tokens_of(text)
    while joined(tokens, i):
        i += 1
        if row[i].strip(".,:;!?…。，、！？"):
            return i
    return None


SCRIPTS = [
    *"aBéßΩжשع中かไก한क0٣ \n\t'’\"“”„«»().,:;!?-–—&$€%#@_/[]{}「」…`·",
    *"\u0301\u0e49\u093f\u094d\u200d\u200c\u00ad\ufe0f\u200e\u202e\r\u3000\u1039\u17d2",
    *["U.N.", "Corp. said", "Jr.,", "'s", "l'I", "1,5"],
    *["😀", "👍🏽", "🇩🇪", "👩\u200d👧", "1\ufe0f\u20e3"],
]
ANY = st.characters(exclude_categories=["Cs"])
# Of every text, given with its boundaries: its words as they are shown, and what a drag from each
# of them to each later one takes.
DRAGS = """texts => {
    const form = document.querySelector("form").cloneNode(true);
    form.querySelectorAll("[data-segment]").forEach((el) => el.remove());
    const root = form.querySelector("[data-span-picker]");
    texts.forEach(([text, tokens, joined], i) => {
        const el = document.createElement("div");
        Object.assign(el.dataset, { segment: i, tokens, joined });
        el.textContent = text;
        root.prepend(el);
    });
    document.querySelector("form").replaceWith(form);
    document.dispatchEvent(new CustomEvent("htmx:load"));
    const { segments } = root.spanPicker;
    return segments.map(({ words }) => [
        words.map((word) => word.text),
        words.flatMap((from) => words.slice(words.indexOf(from))
            .map((to) => root.spanPicker.snapped(from, to).slice(1))),
    ]);
}"""


def drags_over(page: Page, texts: list[str]) -> list[list[Any]]:
    marked = [boundaries(text) for text in texts]
    given = [[text, *told] for text, told in zip(texts, marked, strict=True)]
    return page.evaluate(DRAGS, given)


def expected_drags(text: str) -> list[Any]:
    tokens = tokens_of(text)
    return [
        pieces(text),
        [
            list(slow_snap(text, first.start, last.end))
            for i, first in enumerate(tokens)
            for last in tokens[i:]
        ],
    ]


def test_takes_by_a_drag_what_a_slow_oracle_does(page: Page) -> None:
    open_in(page)
    texts = st.lists(st.sampled_from(SCRIPTS), max_size=24).map("".join) | st.text(ANY, max_size=16)

    @given(texts=st.lists(texts, min_size=4, max_size=12))
    def compare(texts: list[str]) -> None:
        for text, found in zip(texts, drags_over(page, texts), strict=True):
            assert found == expected_drags(text), text

    compare()


def test_takes_by_a_drag_over_published_texts_what_a_slow_oracle_does(
    page: Page, clues: Path
) -> None:
    open_in(page)
    cuts_and_snaps_alike(page, clues / "CoNLL2003" / "conll_test.jsonl")


def test_cuts_and_snaps_our_own_texts_as_the_server_does(page: Page) -> None:
    open_in(page)
    for folder in ("Newsroom", "Reading"):
        demo = settings.BASE_DIR / "annotation/simulation/demo/benchmark"
        [file] = (demo / folder).glob("*_test.jsonl")
        cuts_and_snaps_alike(page, file)


def cuts_and_snaps_alike(page: Page, file: Path) -> None:
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    texts = list(dict.fromkeys(row["context"] for row in rows))
    for text, found in zip(texts, drags_over(page, texts), strict=True):
        assert found == expected_drags(text), text


TABLE = [
    ("He left Belgrade, then.", ("left", "Belgrade"), "left Belgrade"),
    ("He left Belgrade, then.", ("Belgrade", ","), "Belgrade"),
    ("of the U.N.", ("the", "U.N."), "the U.N."),
    ("for $150,000.", ("$150,000", "."), "$150,000"),
    ('its "duty".', ('"', "."), '"duty"'),
    ("(Conservative).", ("(", "Conservative"), "Conservative"),
    ("the receptor (TCR) as", ("receptor", "TCR"), "receptor (TCR)"),
    ("the receptor (TCR) as", ("TCR", "as"), "(TCR) as"),
    ('the song "Halo" by X', ("Halo", "by"), '"Halo" by'),
    ('he said "we won." Then', ("said", "won"), 'said "we won."'),
    ("«Ja» und „nein“ (so", ("Ja", "nein"), "«Ja» und „nein“"),
    ("(Wales' own) team", ("(", ")"), "(Wales' own)"),
    ("¿Qué? yes", ("¿", "?"), "Qué"),
    ("wait ... no", ("...", "..."), "..."),
]


def test_snaps_a_drag(page: Page) -> None:
    open_in(page)
    found = drags_over(page, [text for text, _, _ in TABLE])
    for (text, (first, last), expected), (words, taken) in zip(TABLE, found, strict=True):
        ends = [(i, j) for i in range(len(words)) for j in range(i, len(words))]
        start, end = taken[ends.index((words.index(first), words.index(last)))]
        assert text[start:end] == expected, text
