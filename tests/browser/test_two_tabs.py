"""Two studies open in the tabs of one browser, on a phone and on a laptop."""

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from annotation.models import Assignment, Judgement, Kind
from tests import make
from tests.browser.conftest import LAPTOP, PHONE, Comes
from tests.browser.person import Person

pytestmark = pytest.mark.django_db(transaction=True)


def answers(assignment: Assignment) -> list[list[str]]:
    given = Judgement.objects.filter(assignment=assignment).order_by("step")
    return list(given.values_list("answer", flat=True))


def joined(person: Person, kind: str) -> Assignment:
    before = set(Assignment.objects.values_list("pk", flat=True))
    person.join(make.running_batch(kind=kind, zero_shot=True))
    begin = person.page.get_by_role("link", name="begin as somebody else")
    if begin.count():
        begin.click()
    person.page.get_by_role("button", name="I agree").click()
    person.page.get_by_role("button", name="Start").click()
    person.page.wait_for_selector("[data-panel=answer]")
    return Assignment.objects.exclude(pk__in=before).get()


@pytest.mark.parametrize("size", [PHONE, LAPTOP], ids=["phone", "laptop"])
def test_keep_their_answers_apart(somebody: Comes, size: tuple[int, int]) -> None:
    first = somebody(size)
    second = Person(first.page.context.new_page(), first.origin)
    one, other = joined(first, Kind.CHOICE), joined(second, Kind.TEXT)
    first.chooses(1)
    first.goes_on()
    second.types("日本")
    second.goes_on()
    for tab, assignment in ((first, one), (second, other)):
        tab.page.reload()
        expect(tab.page.locator("[name=step]")).to_have_value("1")
        expect(tab.page.locator(".work-whose")).to_contain_text(assignment.study.title)
    assert (answers(one), answers(other)) == ([["good"]], [["日本"]])


def test_keep_a_draft_whose_work_left_the_browser(somebody: Comes) -> None:
    first = somebody(PHONE)
    second = Person(first.page.context.new_page(), first.origin)
    one, other = joined(first, Kind.TEXT), joined(second, Kind.CHOICE)
    third = Person(first.page.context.new_page(), first.origin)
    third.open(first.page.url.removeprefix(first.origin))
    third.page.get_by_role("button", name="Not you?").click()
    first.types("Anna")
    first.page.locator("[data-send]").click()
    expect(first.page.locator("#save-state")).to_contain_text("no longer has access")
    assert (answers(one), answers(other)) == ([], [])
    first.open(reverse("annotation:resume", args=[one.resume_token]))
    first.page.get_by_role("button", name=f"Yes, go on as {one.annotator.pseudonym}").click()
    expect(first.page.locator("[name=text]")).to_have_value("Anna")
    first.goes_on()
    assert (answers(one), answers(other)) == ([["Anna"]], [])
