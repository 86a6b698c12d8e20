import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.core.spans import (
    Token,
    check_spans,
    measure_reach,
    reach_share,
    reachable,
    snap,
    take,
    tokens_of,
)

# Letters of many scripts, digits, marks, emoji and their joiners, spaces, and everything between.
PIECES = [
    *"aBéßΩжשع中かไก한क0٣ \n\t'’\"“”„«»().,:;!?-–—&$€%#@_/[]{}「」…`·",
    *"\u0301\u0e49\u093f\u094d\u200d\u200c\u00ad\ufe0f\u200e\u202e\r\u3000\u1039\u17d2",
    *[
        "U.N.",
        "Corp. said",
        "Jr.,",
        "'s",
        "l'I",
        "1,5",
        "😀",
        "👍🏽",
        "🇩🇪",
        "👩\u200d👧",
        "1\ufe0f\u20e3",
    ],
]
texts = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=24).map("".join),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=16),
)


def pieces(text: str) -> list[str]:
    return [text[token.start : token.end] for token in tokens_of(text)]


def taps(text: str, first: str, last: str) -> str:
    """What two taps choose: on the first token that reads `first`, the last that reads `last`."""
    found = pieces(text)
    start, end = take(text, found.index(first), len(found) - 1 - found[::-1].index(last))
    return text[start:end]


def drag(text: str, over: str) -> str | None:
    start = text.index(over)
    snapped = snap(text, start, start + len(over))
    return snapped and text[slice(*snapped)]


def test_takes_from_the_first_tapped_word_to_the_last() -> None:
    text = "He joined the State Street Bank."
    assert taps(text, "State", "Bank") == "State Street Bank"
    assert taps(text, "joined", "joined") == "joined"
    assert taps(text, "Bank", ".") == "Bank."


def test_takes_the_same_in_either_order() -> None:
    assert take("one two three", 2, 0) == take("one two three", 0, 2) == (0, 13)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("In Belgrade :", "In|Belgrade|:"),
        ("the U.N. and Ph.D. at 3 p.m.", "the|U.N.|and|Ph.D.|at|3|p.m."),
        ("AMR Corp. , said", "AMR|Corp.|,|said"),
        ("AMR Corp. said", "AMR|Corp.|said"),
        ("Dale Smith Jr., who", "Dale|Smith|Jr.|,|who"),
        ("Inc.'s pre-U.S.-led", "Inc.|'s|pre|-|U.S.|-|led"),
        ("the end. The next.", "the|end|.|The|next|."),
        ("the end.The next", "the|end|.|The|next"),
        ("see example.com.", "see|example.com|."),
        ("US$5,000.50 $5 5€ 60% 20° at 10:30", "US$5,000.50|$5|5€|60%|20°|at|10:30"),
        ("$ 5, 60 %", "$|5|,|60|%"),
        ("O'Brien’s don't Wales' AT&T", "O'Brien|’s|don't|Wales|'|AT&T"),
        ("l'Italie dell’Arte L'Oréal", "l'|Italie|dell’|Arte|L'Oréal"),
        ("1596-1650 Madrid–Roma a/b", "1596|-|1650|Madrid|–|Roma|a|/|b"),
        ("wait... no--yes ''x''", "wait|...|no|--|yes|''|x|''"),
        ("東京は2008年、", "東|京|は|2008|年|、"),
        ("น้ำตา", "น้|ำ|ต|า"),
        ("👩\u200d👧🇩🇪🇫🇷👍🏽1\ufe0f\u20e3", "👩\u200d👧|🇩🇪|🇫🇷|👍🏽|1\ufe0f\u20e3"),
        ("cafe\u0301s می\u200cخواهم क्\u200dष", "cafe\u0301s|می\u200cخواهم|क्\u200dष"),
        ("צה״ל col·lecció", "צה״ל|col·lecció"),
        ("\ufeff a\u200e b\r\nc\u3000d ", "a|b|c|d"),
        ("@user #tag C++", "@|user|#|tag|C|+|+"),
        (" \n", ""),
    ],
)
def test_cuts_a_text_into_tokens(text: str, expected: str) -> None:
    assert "|".join(pieces(text)) == expected


@given(text=texts)
def test_puts_every_visible_character_into_one_token(text: str) -> None:
    tokens = tokens_of(text)
    at = 0
    for token in tokens:
        assert at <= token.start < token.end <= len(text)
        assert hidden(text[at : token.start])
        at = token.end
    assert hidden(text[at:])


def hidden(between: str) -> bool:
    return all(c.isspace() or not c.isprintable() for c in between)


@pytest.mark.parametrize(
    ("text", "over", "expected"),
    [
        ("He left Belgrade, then.", "ft Belgr", "left Belgrade"),
        ("He left Belgrade, then.", " Belgrade, ", "Belgrade"),
        ("of the U.N.", "the U.N.", "the U.N."),
        ("for $150,000.", "150,000.", "$150,000"),
        ('its "duty".', '"duty".', '"duty"'),
        ('its "duty".', '"duty', "duty"),
        ("(Conservative).", "(Conservative", "Conservative"),
        ("the receptor (TCR) as", "receptor (TCR", "receptor (TCR)"),
        ("the receptor (TCR) as", "TCR) as", "(TCR) as"),
        ('the song "Halo" by X', 'Halo" by', '"Halo" by'),
        ('he said "we won." Then', 'said "we won', 'said "we won."'),
        ("«Ja» und „nein“ (so", "Ja» und „nein", "«Ja» und „nein“"),
        ("(Wales' own) team", "(Wales' own)", "(Wales' own)"),
        ("¿Qué? yes", "¿Qué?", "Qué"),
        ("wait ... no", " ... ", "..."),
        ("a   b", "  ", None),
        ("a b", "", None),
    ],
)
def test_snaps_a_drag(text: str, over: str, expected: str | None) -> None:
    assert drag(text, over) == expected


CLOSERS = dict(zip(")]}）］」』】》〉", "([{（［「『【《〈", strict=True))
FAMILIES = ['"“”„‟＂', "'‘’‚‛", "«»", "‹›"]


def kind_of(piece: str) -> str:
    family = next((family for family in FAMILIES if piece and piece in family), None)
    return family or CLOSERS.get(piece, piece)


def slow_partners(row: list[str]) -> tuple[dict[int, int], set[int]]:
    """For each mark its partner, and the marks that have none; by looking back from every closing
    mark."""
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


def slow_snap(text: str, start: int, end: int) -> tuple[int, int] | None:
    tokens = tokens_of(text)
    touched = [i for i, t in enumerate(tokens) if t.start < end and start < t.end]
    row = pieces(text)
    if not touched:
        return None
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


@given(text=texts, ends=st.tuples(st.integers(0, 40), st.integers(0, 40)))
def test_snaps_as_the_slow_oracle_does(text: str, ends: tuple[int, int]) -> None:
    start, end = sorted(min(end, len(text)) for end in ends)
    assert snap(text, start, end) == slow_snap(text, start, end)


@given(text=texts, ends=st.tuples(st.integers(0, 40), st.integers(0, 40)))
def test_reaches_just_what_some_pair_of_tokens_takes(text: str, ends: tuple[int, int]) -> None:
    start, end = sorted(min(end, len(text)) for end in ends)
    count = len(tokens_of(text))
    pairs = {take(text, i, j) for i in range(count) for j in range(i, count)}
    assert reachable(text, start, end) == ((start, end) in pairs)
    assert all(reachable(text, *pair) for pair in pairs)


def test_reaches_by_words_alone_what_ends_in_words() -> None:
    text = "the receptor (TCR) as"
    assert reachable(text, 4, 18)
    assert not reachable(text, 4, 18, by_words=True)
    assert reachable(text, 4, 17, by_words=True)


def test_measures_reach_by_any_occurrence_and_counts_absent_golds_apart() -> None:
    golds = [
        ("the midday sun at day", "day", None),  # its second occurrence is a word
        ("the midday sun", "day", 7),  # a part of a word
        ("the (day) sun", "(day", 4),  # begins with punctuation
        ("the sun", "moon", None),
        ("the sun", "", None),
    ]
    reach = measure_reach(golds)
    assert (reach.reached, reach.by_words, reach.spans, reach.absent) == (2, 1, 3, 1)
    assert reach.missed == ("day",)
    assert reach_share(golds) == pytest.approx(2 / 3)


def published_golds(file: Path) -> Iterator[tuple[str, str, int | None]]:
    for line in file.read_text().splitlines():
        row: dict[str, Any] = json.loads(line)
        for answer in row["answer"]:
            if isinstance(answer, dict):
                yield row["context"], answer["text"], answer["answer_start"]
            else:
                yield row["context"], answer, None


@pytest.mark.parametrize(
    ("task", "spans", "absent"), [("CoNLL2003", 1112, 8), ("SQuAD-v2", 546, 0), ("ReCoRD", 500, 0)]
)
def test_reaches_the_published_gold_spans(clues: Path, task: str, spans: int, absent: int) -> None:
    files = sorted((clues / task).glob("*.jsonl"))
    assert len(files) == 16
    everything = [gold for file in files for gold in published_golds(file)]
    for file in files:
        assert reach_share(published_golds(file)) >= 0.995, file
    reach = measure_reach(everything)
    assert (reach.spans, reach.absent) == (spans, absent)
    assert reach.by_words / reach.spans > 0.95


def test_gives_the_texts_of_spans_without_repetition() -> None:
    segments = ["Ana met 👩\u200d👧 Bo.", "Bo left."]
    assert check_spans(segments, [[0, 8, 11], [1, 0, 2], (0, 12, 14), [1, 0, 2]]) == [
        "👩\u200d👧",
        "Bo",
        "Bo",
    ]
    assert check_spans(segments, []) == []


@pytest.mark.parametrize(
    ("spans", "reason"),
    [
        ("[[0, 1, 2]]", "must be a list of"),
        ({}, "must be a list of"),
        ([7], "must be a list of three"),
        ([[0, 1]], "must be a list of three"),
        ([[0, 1, 2, 3]], "must be a list of three"),
        ([[0, True, 2]], "whole numbers"),
        ([[0, 1.0, 2]], "whole numbers"),
        ([[0, "1", 2]], "whole numbers"),
        ([[0, None, 2]], "whole numbers"),
        ([[1, 0, 2]], "segment 1"),
        ([[-1, 0, 2]], "segment -1"),
        ([[0, 2, 2]], "end after its start"),
        ([[0, 3, 2]], "end after its start"),
        ([[0, -1, 2]], "outside"),
        ([[0, 0, 8]], "outside"),
        ([[0, 3, 4]], "nothing but space"),
        ([[0, 0, 3], [0, 0, 99]], "outside"),
    ],
)
def test_refuses_spans_that_the_text_does_not_have(spans: object, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        check_spans(["Ana met"], spans)
