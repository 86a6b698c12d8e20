"""Every answer can be given by HTML alone."""

import pytest
from playwright.sync_api import expect

from annotation.models import Assignment, Judgement, Kind, Outcome
from tests import make
from tests.browser.conftest import Comes
from tests.browser.person import Person

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def plain(somebody: Comes) -> Person:
    return somebody(java_script_enabled=False)


@pytest.mark.parametrize("kind", [Kind.CHOICE, Kind.CANDIDATE, Kind.TEXT])
def test_leads_from_the_link_to_the_code(plain: Person, kind: str) -> None:
    plain.enter(make.running_batch(kind=kind, training=2, tests=2))
    while plain.panel != "finished":
        if plain.panel == "answer":
            plain.answers_right()
        plain.page.locator("[data-send]").click()
    assert Assignment.objects.get().outcome == Outcome.COMPLETED
    assert Judgement.objects.count() == 4


def test_takes_spans_as_typed_lines(plain: Person) -> None:
    plain.start(make.running_batch(kind=Kind.SPANS, zero_shot=True))
    plain.page.locator("[name=typed]").fill("Anna\nBoris")
    plain.page.locator("[data-send]").click()
    assert plain.step == 1
    plain.page.locator("[data-span-plain] [name=none]").check()
    plain.page.locator("[data-send]").click()
    assert plain.step == 2
    assert [j.answer for j in Judgement.objects.order_by("step")] == [["Anna", "Boris"], []]


def test_gives_back_what_was_typed_where_it_is_not_in_the_text(plain: Person) -> None:
    plain.start(make.running_batch(kind=Kind.SPANS, zero_shot=True))
    plain.page.locator("[name=typed]").fill("Anna\nNobody")
    plain.page.locator("[data-send]").click()
    expect(plain.page.get_by_role("alert")).to_contain_text("“Nobody” is not in the text")
    expect(plain.page.locator("[name=typed]")).to_have_value("Anna\nNobody")


def test_gives_back_an_answer_that_is_too_long(plain: Person) -> None:
    plain.start(make.running_batch(kind=Kind.TEXT, zero_shot=True))
    plain.page.locator("[name=text]").fill("b" * 301)
    plain.page.locator("[data-send]").click()
    expect(plain.page.get_by_role("alert")).to_contain_text("Make it at most 300.")
    expect(plain.page.locator("[name=text]")).to_have_value("b" * 301)


def test_shows_nothing_that_would_not_work(plain: Person) -> None:
    plain.start(make.running_batch(kind=Kind.SPANS))
    for control in (
        "[data-span-undo]",
        "[data-span-exact]",
        "[data-span-none]",
        "[data-keys-open]",
    ):
        expect(plain.page.locator(control)).to_be_hidden()
    expect(plain.page.locator("[data-send]")).to_be_visible()


def test_shows_no_keys_beside_the_options(plain: Person) -> None:
    plain.start(make.running_batch())
    expect(plain.page.locator("kbd.slot").first).to_be_hidden()


def test_repeats_nothing_on_a_reload(plain: Person) -> None:
    plain.start(make.running_batch(zero_shot=True))
    plain.chooses(0)
    with plain.page.expect_navigation():
        plain.page.locator("[data-send]").click()
    plain.page.reload()
    plain.page.go_back()
    assert plain.step == 1
    assert Judgement.objects.count() == 1
