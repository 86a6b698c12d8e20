"""That the page follows the rule by which tools.gestures counts."""

import pytest
from playwright.sync_api import Page

from tests.browser.picker import open_in
from tools.gestures import Phrase, Text, counts, placed

# Contexts and their gold, as named entities and answers come: touching, joined, apart, alone.
ITEMS = [
    ("In Belgrade :", [], None),
    ("S . Waugh c b N . McLean 12", ["S . Waugh", "N . McLean"], None),
    ("Bre - X Minerals of Dallas-Fort Worth", ["Bre - X Minerals", "Dallas-Fort Worth"], None),
    ("Ann Lee Bo Ray met Cy", ["Ann Lee", "Bo Ray", "Cy"], None),
    ("Rome , Oslo and Ulm", ["Rome", "Oslo", "Ulm"], None),
    ("Germany - Italy", ["Germany", "Italy"], None),
    ("The wall fell in the autumn of 1989.", ["in the autumn of 1989"], 1),
]


@pytest.mark.parametrize(("asked", "gold", "most"), ITEMS)
def test_the_taps_that_are_counted_choose_the_gold(
    page: Page,
    asked: str,
    gold: list[str],
    most: int | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    done: list[tuple[str, int]] = []
    tap, shorten = Text.tap, Text.shorten

    def noted_tap(text: Text, place: int) -> None:
        done.append(("tap", place))
        tap(text, place)

    def noted_shorten(text: Text, phrase: Phrase) -> None:
        done.append(("shorten", 0))
        shorten(text, phrase)

    monkeypatch.setattr(Text, "tap", noted_tap)
    monkeypatch.setattr(Text, "shorten", noted_shorten)
    taps, _gestures, _by_two = counts(asked, gold, most)
    assert taps == len(done) + 1
    picker = open_in(page, asked, most=str(most or ""))
    for act, place in done:
        if act == "tap":
            picker.page.locator(".span-word").nth(place).click()
        else:
            picker.page.get_by_role("button", name="End one word earlier").click()
    assert sorted(picker.texts) == sorted(gold)
    assert len(placed(asked, gold)) == len(gold)


def test_counts_a_tap_for_each_word_and_one_to_send() -> None:
    assert counts("In Belgrade :", [], None) == (1, 1, 2)
    assert counts("New York and Ulm", ["New York", "Ulm"], None) == (4, 3, 5)
    # The first of two that touch takes in the second, is made shorter, and leaves it alone.
    assert counts("Rome Ulm", ["Rome", "Ulm"], None) == (5, 3, 5)
