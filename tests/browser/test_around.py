"""What stands around the work: its other pages, the window's title, going on elsewhere."""

import pytest
from playwright.sync_api import expect

from annotation.models import Assignment, Comment
from tests import make
from tests.browser.conftest import PHONE, Comes
from tests.browser.person import Person

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def chosen(person: Person) -> Person:
    """Somebody who has chosen an answer and not sent it."""
    person.start(make.running_batch(title="Cities"))
    person.chooses(1)
    return person


def test_keeps_an_unsent_answer_while_a_problem_is_reported(chosen: Person) -> None:
    page = chosen.page
    page.get_by_text("Report a problem").click()
    page.get_by_role("textbox").fill("1 is missing?")
    page.get_by_role("button", name="Send this").click()
    page.get_by_role("link", name="Back to the work").click()
    expect(page.locator("[name=option]").nth(1)).to_be_checked()
    assert Comment.objects.get().text == "1 is missing?"
    assert chosen.problems == []


def test_keeps_an_unsent_answer_of_who_does_not_stop_after_all(chosen: Person) -> None:
    chosen.page.get_by_text("Stop taking part").click()
    chosen.page.get_by_role("link", name="No, go on").click()
    expect(chosen.page.locator("[name=option]").nth(1)).to_be_checked()
    assert Assignment.objects.get().outcome == ""


def test_renames_the_window_with_each_step(chosen: Person) -> None:
    expect(chosen.page).to_have_title("Practice 1 of 3 · Cities")
    chosen.goes_on()
    expect(chosen.page).to_have_title("Right answer to Practice 1 of 3 · Cities")
    chosen.goes_on()
    expect(chosen.page).to_have_title("Practice 2 of 3 · Cities")
    assert chosen.page.locator("main title").count() == 0


def test_goes_on_with_a_phone_where_a_laptop_stopped(chosen: Person, somebody: Comes) -> None:
    chosen.goes_on()
    chosen.goes_on()
    chosen.page.get_by_role("button", name="Continue on another device").click()
    expect(chosen.page.locator(".link-picture svg")).to_be_visible()
    code = chosen.page.locator(".code").inner_text()
    link = chosen.page.locator(".resume").inner_text()
    typing, by_link = (somebody(PHONE, touch=True) for _ in range(2))
    typing.open("/go")
    typing.page.get_by_label("Code").fill(code.lower())
    typing.page.get_by_role("button", name="Continue").tap()
    by_link.page.goto(link)
    for phone in (typing, by_link):
        expect(phone.page.locator("[name=step]")).to_have_value("1")
        assert phone.panel == "answer"


def test_keeps_an_unsent_answer_while_a_code_is_shown(chosen: Person) -> None:
    chosen.page.get_by_role("button", name="Continue on another device").click()
    chosen.page.get_by_role("link", name="Back to the work").click()
    expect(chosen.page.locator("[name=option]").nth(1)).to_be_checked()


def test_can_go_back_to_the_page_with_the_code(chosen: Person) -> None:
    """A page that came from a form is none that a browser can go back to without asking."""
    page = chosen.page
    page.get_by_role("button", name="Continue on another device").click()
    code = page.locator(".code").inner_text()
    page.get_by_role("link", name="Back to the work").click()
    expect(page.locator("[name=option]").nth(1)).to_be_checked()
    page.go_back()
    expect(page.locator(".code")).to_have_text(code)


def test_keeps_an_unsent_answer_in_another_language(chosen: Person) -> None:
    chosen.page.get_by_role("button", name="Deutsch").click()
    expect(chosen.page.locator("html")).to_have_attribute("lang", "de")
    expect(chosen.page.locator("[name=option]").nth(1)).to_be_checked()


def test_takes_a_comment_at_the_end(person: Person) -> None:
    person.start(make.running_batch(zero_shot=True, tests=1))
    person.chooses(0)
    person.goes_on()
    person.page.get_by_text("Write to the people who run the study").click()
    person.page.get_by_role("textbox").fill("Nice.")
    person.page.get_by_role("button", name="Send this").click()
    person.page.get_by_role("link", name="Back").click()
    assert "CODE-COMPLETED" in person.page.locator("main").inner_text()
    assert Comment.objects.get().text == "Nice."
