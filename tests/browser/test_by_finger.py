"""Whole batches of every answer kind on a phone, by touches with a finger's radius."""

from typing import Any

import pytest
from pytest_django.live_server_helper import LiveServer

from tests.browser.batches import WORK, batch_of, is_done_right, works_through
from tests.browser.conftest import PHONE
from tests.browser.finger import FingerPerson
from tests.browser.kept import KeptPages
from tests.browser.person import TOUCH

pytestmark = pytest.mark.django_db(transaction=True)

# A fingertip's and a thumb's, by turns.
RADII = [6, 14]

# What is touched besides the words and names of a text, which stand as they stand.
SMALL = """() => [...document.querySelectorAll(
    "a, button, summary, label:has(input), input:not([type=hidden]), textarea")]
  .filter((element) => element.checkVisibility() && !element.closest("label:not(:scope)"))
  .filter((element) => !element.matches(".resume, .skip-link, .context *"))
  .map((element) => [element.outerHTML.slice(0, 120), element.getBoundingClientRect()])
  .filter(([, box]) => box.width < 43.5 || box.height < 43.5)
  .map(([html, box]) => `${Math.round(box.width)} x ${Math.round(box.height)}: ${html}`)"""


class Careful(FingerPerson):
    """Looks on every page whether all that can be touched is large enough for a finger."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.small: set[str] = set()

    def sends(self, by: str = TOUCH) -> None:
        self.small.update(self.page.evaluate(SMALL))
        super().sends(by)


@pytest.mark.parametrize("work", WORK)
def test_leads_to_the_code_without_a_wrong_touch(
    pages: KeptPages, live_server: LiveServer, work: str
) -> None:
    page = pages.give(PHONE, has_touch=True, is_mobile=True)
    person = Careful(page, live_server.url, *RADII)
    batch = batch_of(work)
    works_through(person, batch, [TOUCH], leaves=TOUCH)
    is_done_right(person, batch)
    person.small.update(person.page.evaluate(SMALL))
    assert not person.small, person.small
