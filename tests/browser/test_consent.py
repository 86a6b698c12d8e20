"""The consent page on a phone."""

import pytest

from tests import make
from tests.browser.conftest import PHONE, Comes

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("language", ["en", "de"])
def test_can_be_agreed_to_and_declined_without_scrolling(language: str, somebody: Comes) -> None:
    person = somebody(PHONE, touch=True, locale=language)
    person.join(make.running_batch(min_training_score=60, consent_text="Some words. " * 30))
    for button in person.page.locator(".agree button").all():
        box = button.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= PHONE[1]
    # All that is told in short lies above them.
    last, bar = (
        person.page.locator(name).bounding_box() for name in (".facts li >> nth=-1", ".agree")
    )
    assert last is not None
    assert bar is not None
    assert last["y"] + last["height"] < bar["y"]
