"""How many taps the phrases of a file take, by the rule of static/annotation/kinds/spans.js.

    python -m tools.gestures conll_test.jsonl
    python -m tools.gestures squad-v2_test.jsonl --one

Every phrase of the gold is taken where it occurs first, by taps alone; an answer counts only if
what the taps chose is the gold. Sending counts as a tap; "none" is chosen and sent by one. Beside
it: gestures, where a drag takes a phrase of several words; and what two taps a phrase would take.
"""

import argparse
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from scoring.core.spans import tokens_of

JOINER = re.compile("[-\u2010-\u2015/]+")
INITIAL = re.compile(r"[^\W\d_]{1,2}")


@dataclass
class Phrase:
    first: int
    last: int
    is_finished: bool = False


@dataclass
class Text:
    """The words of a text, and the phrases that taps have chosen in it."""

    words: Sequence[str]
    most: int | None = None
    phrases: list[Phrase] = field(default_factory=list)
    anchor: int = 0

    def beside(self, place: int, step: int) -> list[int]:
        """The next word in a direction, and the one behind what joins two words."""
        near, far = place + step, place + 2 * step
        if not 0 <= far < len(self.words):
            return [near]
        left = self.words[min(place, far)]
        between = self.words[near]
        joins = JOINER.fullmatch(between) or (between == "." and INITIAL.fullmatch(left))
        return [near, far] if joins else [near]

    def tap(self, place: int) -> None:
        inside = [phrase for phrase in self.phrases if phrase.first <= place <= phrase.last]
        if inside:
            self.phrases.remove(inside[0])
            return
        if self.most == 1 and self.phrases:
            self.phrases = [Phrase(min(self.anchor, place), max(self.anchor, place))]
            return
        before, after = self.beside(place, -1), self.beside(place, 1)
        open_ones = [phrase for phrase in reversed(self.phrases) if not phrase.is_finished]
        for phrase in open_ones:
            if phrase.last in before or phrase.first in after:
                phrase.first = min(phrase.first, place)
                phrase.last = max(phrase.last, place)
                return
        self.phrases.append(Phrase(place, place))
        self.anchor = place

    def shorten(self, phrase: Phrase) -> None:
        """By the handle at its end; it is finished then."""
        phrase.last -= 1
        phrase.is_finished = True

    def take(self, first: int, last: int) -> int:
        """By taps, from its first word on; the number of gestures."""
        count = 1
        ended = max((phrase.last for phrase in self.phrases if phrase.last < first), default=-1)
        self.tap(first)
        grown = next(phrase for phrase in self.phrases if phrase.first <= first <= phrase.last)
        if grown.first < first:
            while grown.last > ended:
                self.shorten(grown)
                count += 1
            self.tap(first)
            count += 1
        here = first
        while here < last:
            if self.most == 1:
                here = last
            else:
                here = max(place for place in self.beside(here, 1) if place <= last)
            self.tap(here)
            count += 1
        return count


def placed(context: str, gold: Iterable[str]) -> list[tuple[int, int, bool]]:
    """First and last word of each phrase where it occurs first, in the order of the text, and
    whether its ends are the ends of words."""
    tokens = tokens_of(context)
    found = []
    for text in gold:
        start = context.find(text)
        if start < 0:
            continue
        end = start + len(text)
        over = [n for n, token in enumerate(tokens) if token.start < end and start < token.end]
        is_exact = tokens[over[0]].start == start and tokens[over[-1]].end == end
        found.append((over[0], over[-1], is_exact))
    return sorted(found)


def counts(context: str, gold: Sequence[str], most: int | None) -> tuple[int, int, int]:
    """Taps, gestures, and taps by two a phrase, with sending. Raises ArithmeticError where the
    rule does not lead to the gold."""
    words = [context[token.start : token.end] for token in tokens_of(context)]
    phrases = placed(context, gold)
    if not phrases:
        return 1, 1, 2
    text, taps, gestures = Text(words, most), 1, 1
    for first, last, is_exact in phrases:
        # Else the exact way is opened, both ends are tapped, and it is closed again.
        taken = text.take(first, last) if is_exact else 4
        taps += taken
        gestures += min(taken, 1) if is_exact else 4
    chosen = sorted((phrase.first, phrase.last) for phrase in text.phrases)
    if chosen != [(first, last) for first, last, is_exact in phrases if is_exact]:
        raise ArithmeticError(f"Not reached: {gold} in {context!r}, but {chosen}.")
    return taps, gestures, 2 * len(phrases) + 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument(
        "--one", action="store_true", help="at most one phrase, its first reference"
    )
    arguments = parser.parse_args()
    rows = [json.loads(line) for line in arguments.file.read_text().splitlines()]
    sums = [0, 0, 0]
    for row in rows:
        texts = [given["text"] if isinstance(given, dict) else given for given in row["answer"]]
        gold = [text for text in dict.fromkeys(texts) if text]
        gold = gold[:1] if arguments.one else gold
        for place, count in enumerate(counts(row["context"], gold, 1 if arguments.one else None)):
            sums[place] += count
    taps, gestures, by_two = sums
    print(f"{len(rows)} items: {taps} taps, {gestures} gestures; {by_two} by two taps a phrase")


if __name__ == "__main__":
    main()
