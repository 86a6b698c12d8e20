"""A translated page says so with the answer made on it; nothing of our own looks like one."""

import pytest
from playwright.sync_api import expect

from annotation.models import Judgement, Kind
from tests import make
from tests.browser.conftest import Comes
from tests.browser.person import Person

pytestmark = pytest.mark.django_db(transaction=True)

# What translations do to a page; each leaves the rest as it is.
GOOGLE = "() => document.documentElement.classList.add('translated-ltr')"
GOOGLE_TO_HEBREW = "() => document.documentElement.classList.add('translated-rtl')"
FIREFOX = "() => { document.documentElement.lang = 'fr'; }"
EDGE = """() => {
    const hint = document.querySelector("[data-send-hint]");
    hint.innerHTML = "<font _mstmutation='1'>Ne peut plus être modifié ensuite.</font>";
}"""
SAFARI = """() => {
    document.querySelector(".work-pause").firstChild.data = "Faire une pause ou arrêter";
}"""
TRANSLATIONS = {
    "Google": GOOGLE,
    "Google, from right to left": GOOGLE_TO_HEBREW,
    "Firefox": FIREFOX,
    "Edge": EDGE,
    "Safari": SAFARI,
}


def told() -> list[bool | None]:
    return list(Judgement.objects.order_by("step").values_list("translated", flat=True))


@pytest.fixture
def tester(person: Person) -> Person:
    return person.start(make.running_batch(zero_shot=True))


@pytest.mark.parametrize("translate", TRANSLATIONS.values(), ids=TRANSLATIONS)
def test_is_kept_with_the_answer(tester: Person, translate: str) -> None:
    tester.chooses(1)
    tester.goes_on()
    tester.page.evaluate(translate)
    tester.chooses(1)
    tester.goes_on()
    assert told() == [False, True]
    assert tester.problems == []


def test_is_kept_though_the_page_was_turned_back_or_loaded_again(tester: Person) -> None:
    tester.page.evaluate(GOOGLE)
    tester.page.evaluate("() => document.dispatchEvent(new Event('visibilitychange'))")
    tester.page.evaluate("() => document.documentElement.classList.remove('translated-ltr')")
    tester.page.reload()
    for _ in range(2):
        tester.chooses(1)
        tester.goes_on()
    assert told() == [True, False]


@pytest.mark.parametrize("kind", Kind.values)
def test_is_nothing_that_our_own_pages_do(somebody: Comes, kind: str) -> None:
    """In two languages, over practice and test, with a failed answer and a wait for the network."""
    person = somebody().start(make.running_batch(kind=kind, training=1, tests=2))
    person.page.get_by_role("button", name="Deutsch").click()
    person.page.wait_for_load_state()
    expect(person.page.locator("html")).to_have_attribute("lang", "de")
    person.page.locator("[data-send]").click()
    expect(person.page.locator("[data-form-error]")).to_be_visible()
    while person.panel != "finished":
        if person.panel == "answer":
            person.answers_right()
            person.page.wait_for_timeout(600)
        person.goes_on()
    assert told() == [False, False, False]


def test_goes_along_where_htmx_did_not_come(somebody: Comes) -> None:
    person = somebody()
    person.page.route("**/*htmx*.js", lambda route: route.abort())
    person.start(make.running_batch(kind=Kind.TEXT, zero_shot=True))
    person.page.evaluate(FIREFOX)
    person.types("Anna")
    person.page.locator("[data-send]").click()
    expect(person.page.locator("[name=step]")).to_have_value("1")
    judgement = Judgement.objects.get()
    assert (judgement.answer, judgement.typed, judgement.translated) == (["Anna"], 4, True)


def test_is_unknown_without_scripts(somebody: Comes) -> None:
    person = somebody(java_script_enabled=False).start(make.running_batch(zero_shot=True))
    person.answers_right()
    person.page.locator("[data-send]").click()
    assert told() == [None]


def test_harms_nothing_when_it_is_tampered_with(tester: Person) -> None:
    tester.page.evaluate(
        """() => document.querySelector("[name=translated]").setAttribute("data-time", "answer")"""
    )
    tester.chooses(1)
    tester.goes_on()
    assert told() == [None]
