"""From the checks of one task into the work on another, whose answers are of another kind."""

import pytest
from playwright.sync_api import expect

from annotation.models import Kind
from tests import make
from tests.browser.conftest import PHONE, Comes

pytestmark = pytest.mark.django_db(transaction=True)


def test_leads_from_the_checks_to_what_to_do_and_into_the_practice(somebody: Comes) -> None:
    batch = make.running_checked_batch(other=Kind.SPANS, min_check_score=0, training=1)
    person = somebody(PHONE).start(batch)
    expect(person.page.locator("h1")).to_have_text("Checks 1 of 10")
    for _ in range(10):
        person.finds_nothing()
        person.goes_on()
    assert (person.panel, person.focused) == ("description", "What to do")
    assert "The checks are over" in person.page.locator("#announcer").inner_text()
    person.page.get_by_role("button", name="Start").click()
    expect(person.page.locator("h1")).to_have_text("Practice 1 of 1")
    person.chooses(0)
    person.goes_on()
    assert person.panel == "reveal"
    assert person.problems == []
