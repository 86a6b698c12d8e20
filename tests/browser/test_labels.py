"""The page of labels: every answer that fits is ticked, or none of them."""

import pytest
from playwright.sync_api import expect

from annotation.models import Judgement, Kind
from tests import make
from tests.browser.batches import batch_of, is_done_right, works_through
from tests.browser.conftest import LAPTOP, PHONE, Comes
from tests.browser.person import KEYBOARD, MOUSE, TOUCH, Person

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("ways", [[TOUCH], [KEYBOARD, MOUSE]], ids=["touch", "keys and mouse"])
def test_leads_through_a_whole_batch(somebody: Comes, ways: list[str]) -> None:
    person = somebody(PHONE, touch=True) if TOUCH in ways else somebody(LAPTOP)
    batch = batch_of("labels")
    works_through(person, batch, ways, leaves=ways[0])
    is_done_right(person, batch)


def test_none_and_the_others_exclude_each_other(somebody: Comes) -> None:
    person = somebody(PHONE, touch=True)
    person.start(make.running_batch(kind=Kind.LABELS, zero_shot=True))
    bad, good, none = (person.page.locator(".option input").nth(n) for n in range(3))
    for number in (0, 1):
        person.chooses(number, TOUCH)
    expect(bad).to_be_checked()
    person.chooses(2, TOUCH)
    expect(none).to_be_checked()
    expect(bad).not_to_be_checked()
    person.chooses(1, TOUCH)
    expect(none).not_to_be_checked()
    # A second tap takes it back, and sends nothing.
    person.page.wait_for_timeout(500)
    person.chooses(1, TOUCH)
    expect(good).not_to_be_checked()
    person.sends(TOUCH)
    expect(person.page.get_by_role("alert")).to_have_text(
        "Choose every answer that fits, or “None of these”."
    )
    assert not Judgement.objects.exists()


def test_keeps_what_was_ticked_over_a_reload(person: Person) -> None:
    person.start(make.running_batch(kind=Kind.LABELS, zero_shot=True))
    for number in (0, 1):
        person.chooses(number)
    person.page.reload()
    assert [person.page.locator(".option input").nth(n).is_checked() for n in range(3)] == [
        True,
        True,
        False,
    ]
    person.goes_on()
    assert Judgement.objects.get().answer == make.LABELS
