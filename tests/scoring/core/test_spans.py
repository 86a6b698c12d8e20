import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.core.spans import (
    check_spans,
    joined_characters,
    measure_reach,
    reachable,
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
        ("1\ufe0f\u20e32\u20e3a#\ufe0f\u20e3", "1\ufe0f\u20e3|2\u20e3|a|#\ufe0f\u20e3"),
        ("ｶﾞﾋﾟﾊ", "ｶﾞ|ﾋﾟ|ﾊ"),
        ("cafe\u0301s می\u200cخواهم क्\u200dष", "cafe\u0301s|می\u200cخواهم|क्\u200dष"),
        ("צה״ל col·lecció", "צה״ל|col·lecció"),
        ("\ufeff a\u200e b\r\nc\u3000d ", "a|b|c|d"),
        ("@user #tag C++", "@|user|#|tag|C|+|+"),
        (" \n", ""),
    ],
)
def test_cuts_a_text_into_tokens(text: str, expected: str) -> None:
    assert "|".join(pieces(text)) == expected


@pytest.mark.parametrize(
    ("text", "joined"),
    [
        ("cafe\u0301s", [4]),
        ("น้ำ", [1]),
        ("👩\u200d👧🇩🇪👍🏽x", [1, 2, 4, 6]),
        ("a b, c\r\n", []),
        ("\u0301a", []),
        ("", []),
    ],
)
def test_knows_which_code_points_are_one_character(text: str, joined: list[int]) -> None:
    assert joined_characters(text) == joined


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


@given(text=texts, ends=st.tuples(st.integers(0, 40), st.integers(0, 40)))
def test_reaches_just_what_some_pair_of_tokens_takes(text: str, ends: tuple[int, int]) -> None:
    start, end = sorted(min(end, len(text)) for end in ends)
    count = len(tokens_of(text))
    pairs = {take(text, i, j) for i in range(count) for j in range(i, count)}
    assert reachable(text, start, end) == ((start, end) in pairs)
    assert {pair for pair in pairs if reachable(text, *pair)} == pairs


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
    assert reach.share == pytest.approx(2 / 3)


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
        assert measure_reach(published_golds(file)).share >= 0.995, file
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
