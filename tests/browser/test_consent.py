"""The consent page on a phone."""

import pytest
from django.conf import settings
from django.urls import reverse
from playwright.sync_api import expect

from annotation.models import Assignment, Judgement, Task
from annotation.studies.lifecycle import start_study
from tests import make
from tests.browser.conftest import PHONE, Comes
from tests.browser.person import TOUCH

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("language", [code for code, _name in settings.LANGUAGES])
def test_can_be_agreed_to_and_declined_without_scrolling(language: str, somebody: Comes) -> None:
    person = somebody(PHONE, touch=True)
    words = "Some words. " * 30
    person.join(make.running_batch(min_training_score=60, consent_text=words, language=language))
    expect(person.page.locator("html")).to_have_attribute("lang", language)
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


def test_asks_about_six_tasks_on_one_screen(somebody: Comes) -> None:
    person = somebody(PHONE, touch=True)
    bench = make.benchmark()
    study = make.study(bench, min_training_score=60)
    for number in range(6):
        task = make.task(bench)
        asks = f"You read short texts of paper {number} and say what is the case in each."
        sample = {"asks": asks, "text": ["It was fun."], "answer": ["good"]}
        Task.objects.filter(pk=task.pk).update(sample=sample)
        make.batch(study, task)
    start_study(study, at=make.NOON)
    person.open(reverse("annotation:join_study", args=[study.join_token]))
    last, bar = (
        person.page.locator(name).bounding_box() for name in (".facts li >> nth=-1", ".agree")
    )
    assert last
    assert bar
    assert last["y"] + last["height"] < bar["y"]
    samples = person.page.locator(".ways").get_by_role("link")
    expect(samples).to_have_count(0)
    person.page.get_by_text("Try one").tap()
    expect(samples).to_have_count(6)


def test_lets_one_be_tried_by_touch(somebody: Comes) -> None:
    person = somebody(PHONE, touch=True)
    task = make.task()
    sample = {"asks": "You read reviews.", "text": ["It was fun."], "answer": ["good"]}
    Task.objects.filter(pk=task.pk).update(sample=sample)
    batch = make.batch(make.study(task.benchmark), task)
    start_study(batch.study, at=make.NOON)
    person.join(batch)
    agree = person.page.get_by_role("button", name="I agree")
    assert (box := agree.bounding_box())
    assert box["y"] + box["height"] <= PHONE[1]
    person.page.get_by_role("link", name="Try one").tap()
    person.page.wait_for_load_state()
    person.touches(person.option("bad"))
    person.sends(TOUCH)
    expect(person.page.locator("[data-verdict]")).to_contain_text("Incorrect.")
    person.sends(TOUCH)
    expect(agree).to_be_visible()
    assert not Assignment.objects.exists()
    assert not Judgement.objects.exists()
