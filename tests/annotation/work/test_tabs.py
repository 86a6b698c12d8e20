"""Several works in the tabs of one browser: a form acts on the work whose page it was."""

from collections.abc import Mapping
from urllib.parse import urlsplit

import pytest
from django.test import Client
from django.urls import reverse

from annotation.access.cookies import digest_of
from annotation.models import Assignment, Batch, Comment, DeviceCode, Judgement, Kind
from tests import make
from tests.every import every
from tests.tab import Tab, forms_in

pytestmark = pytest.mark.django_db(transaction=True)
SUBMIT, WORK = "/work/submit/", "/work/"


def begun(browser: Client, batch: Batch) -> tuple[Tab, Assignment]:
    """A tab before the first item."""
    before = set(Assignment.objects.values_list("pk", flat=True))
    tab = Tab(browser, reverse("annotation:join_batch", args=[batch.join_token]))
    if "/work/consent/" not in tab.forms:  # asked whether they are who was here before
        tab.open("/work/consent/")
    tab.send("/work/consent/", {"agree": "1"})
    assignment = Assignment.objects.exclude(pk__in=before).get()
    tab.send("/work/begin/")
    return tab, assignment


def answered(assignment: Assignment) -> list[int]:
    return list(Judgement.objects.filter(assignment=assignment).values_list("step", flat=True))


def right(assignment: Assignment) -> Mapping[str, str]:
    assignment.refresh_from_db()
    return {name: str(value) for name, value in make.right_answer(assignment).items()}


@pytest.mark.both_databases
@pytest.mark.parametrize("htmx", [True, False])
@pytest.mark.parametrize("kinds", [(Kind.CHOICE, Kind.CHOICE), (Kind.CHOICE, Kind.TEXT)])
def test_stores_each_tabs_answer_in_its_own_study(kinds: tuple[str, str], htmx: bool) -> None:
    browser = Client()
    first, one = begun(browser, make.running_batch(kind=kinds[0], zero_shot=True, tests=3))
    second, other = begun(browser, make.running_batch(kind=kinds[1], zero_shot=True, tests=3))
    first.send(SUBMIT, right(one), htmx=htmx)
    assert (answered(one), answered(other)) == ([0], [])
    first.send(SUBMIT, right(one), htmx=htmx)
    second.send(SUBMIT, right(other), htmx=htmx)
    assert (answered(one), answered(other)) == ([0, 1], [0])
    for tab, assignment in ((first, one), (second, other)):
        tab.reload()
        assert tab.forms[SUBMIT]["work"] == digest_of(assignment.pk)
        assert assignment.study.title in tab.text


def test_keeps_apart_two_people_at_one_link() -> None:
    browser, batch = Client(), make.running_batch(zero_shot=True, tests=3, wanted=2)
    first, one = begun(browser, batch)
    second, other = begun(browser, batch)
    assert one.annotator != other.annotator
    first.send(SUBMIT, right(one))
    second.reload()
    assert (answered(one), answered(other)) == ([0], [])
    assert other.annotator.pseudonym in second.text


def test_ends_the_work_whose_page_was_stopped() -> None:
    browser = Client()
    first, one = begun(browser, make.running_batch(zero_shot=True))
    second, other = begun(browser, make.running_batch(zero_shot=True))
    first.open(f"/work/withdraw/?work={digest_of(one.pk)}")
    second.reload()
    first.send("/work/withdraw/", {"sure": "1"})
    one.refresh_from_db()
    other.refresh_from_db()
    assert (one.outcome, other.outcome) == ("withdrawn", "")
    second.send(SUBMIT, right(other))
    assert answered(other) == [0]


def test_files_a_comment_and_shows_a_code_where_they_were_asked_for() -> None:
    browser = Client()
    first, one = begun(browser, make.running_batch(zero_shot=True))
    second, other = begun(browser, make.running_batch(zero_shot=True))
    first.open(f"/work/comment/?work={digest_of(one.pk)}")
    second.send("/work/device/")
    first.send("/work/comment/", {"text": "The picture is missing."})
    assert Comment.objects.get().assignment == one
    assert f"/work/?work={digest_of(one.pk)}" in first.text
    codes = [second.text]
    first.open(WORK + f"?work={digest_of(one.pk)}")
    first.send("/work/device/")
    second.reload()
    assert set(DeviceCode.objects.values_list("assignment", flat=True)) == {one.pk, other.pk}
    # The code of the one tab does not take that of the other away.
    codes += [first.text, second.text]
    shown = [text.partition('class="code"')[2].partition(">")[2][:9] for text in codes]
    assert shown[0] == shown[2] != shown[1]
    assert every(shown)


def test_keeps_its_work_while_the_language_changes() -> None:
    browser = Client()
    first, one = begun(browser, make.running_batch(zero_shot=True))
    begun(browser, make.running_batch(zero_shot=True))
    for page in ("", "comment/", "device/"):
        first.open(f"/work/{page}?work={digest_of(one.pk)}")
        first.send("/language/", {"language": "de"})
        assert first.address == f"/work/{page}?work={digest_of(one.pk)}"
        assert '<html lang="de"' in first.text


def test_leaves_the_other_tabs_work_when_one_says_not_you() -> None:
    browser = Client()
    first, one = begun(browser, make.running_batch(zero_shot=True))
    second, other = begun(browser, make.running_batch(zero_shot=True))
    form = dict(second.forms[SUBMIT])
    second.send("/work/leave/")
    first.send(SUBMIT, right(one))
    assert answered(one) == [0]
    # Back in history, the page that was left stores nothing any more.
    response = browser.post(SUBMIT, {**form, **right(other)})
    assert response.status_code == 403
    assert "belongs to other work" in response.content.decode()
    assert answered(other) == []


def test_not_you_leads_to_no_study_of_another_tab() -> None:
    browser = Client()
    first, _ = begun(browser, make.running_batch(zero_shot=True))
    begun(browser, make.running_batch(zero_shot=True))
    first.send("/work/leave/")
    assert "open the link that you were given" in first.text


def test_goes_on_after_a_second_consent_in_another_tab() -> None:
    browser = Client()
    batches = [make.running_batch(zero_shot=True) for _ in range(2)]
    first, one = begun(browser, batches[0])
    second = Tab(browser, reverse("annotation:join_batch", args=[batches[1].join_token]))
    if "/work/consent/" not in second.forms:
        second.open("/work/consent/")
    first.send(SUBMIT, right(one))
    second.send("/work/consent/", {"agree": "1"})
    first.send(SUBMIT, right(one))
    assert answered(one) == [0, 1]
    assert answered(Assignment.objects.exclude(pk=one.pk).get()) == []


def test_gets_its_own_present_page_by_an_old_form() -> None:
    browser = Client()
    first, one = begun(browser, make.running_batch(zero_shot=True))
    old = dict(first.forms[SUBMIT])
    first.send(SUBMIT, right(one))
    _second, other = begun(browser, make.running_batch(zero_shot=True))
    response = browser.post(SUBMIT, {**old, **right(one)}, follow=True)
    page = forms_in(response.content.decode())[SUBMIT]
    assert (page["work"], page["step"]) == (digest_of(one.pk), "1")
    assert (answered(one), answered(other)) == ([0], [])


@pytest.mark.parametrize("htmx", [True, False])
@pytest.mark.parametrize("work", ["", "0" * 16, "ü", None])
def test_stores_nothing_of_a_form_whose_work_it_cannot_tell(work: str | None, htmx: bool) -> None:
    browser = Client()
    _tab, one = begun(browser, make.running_batch(zero_shot=True))
    _tab, other = begun(browser, make.running_batch(zero_shot=True))
    form = {"step": "0", **right(one)} | ({} if work is None else {"work": work})
    response = browser.post(SUBMIT, form, headers={"HX-Request": "true"} if htmx else {})
    assert response.status_code == 403
    assert answered(one) == answered(other) == []


def test_takes_a_form_without_the_field_where_the_browser_knows_one_work() -> None:
    browser = Client()
    _tab, one = begun(browser, make.running_batch(zero_shot=True))
    browser.post(SUBMIT, {"step": "0", **right(one)})
    assert answered(one) == [0]


def test_knows_the_eight_latest_works() -> None:
    browser = Client()
    tabs = [begun(browser, make.running_batch(zero_shot=True)) for _ in range(9)]
    statuses = [tab.send(SUBMIT, right(one)).status_code for tab, one in tabs]
    assert statuses == [403] + [200] * 8
    assert [answered(one) for _tab, one in tabs] == [[]] + [[0]] * 8


def test_asks_before_another_persons_link_changes_the_browsers_work() -> None:
    browser = Client()
    _tab, one = begun(browser, make.running_batch(zero_shot=True))
    other = make.at_work(make.running_batch(zero_shot=True))
    cookie = browser.cookies["annotator"].value
    link = reverse("annotation:resume", args=[other.resume_token])
    asking = Tab(browser, link)
    assert browser.cookies["annotator"].value == cookie
    assert f'Go on as <span translate="no">{other.annotator.pseudonym}</span>?' in asking.text
    asking.send(link)
    assert urlsplit(asking.address).query == f"work={digest_of(other.pk)}"
    assert other.annotator.pseudonym in asking.text
    # Both are there now, and no link asks again.
    for assignment in (one, other):
        again = reverse("annotation:resume", args=[assignment.resume_token])
        assert browser.get(again)["Location"] == f"/work/?work={digest_of(assignment.pk)}"


def test_says_on_every_page_whose_work_it_is() -> None:
    browser = Client()
    first, one = begun(browser, make.running_batch(zero_shot=True, title="Sports pages"))
    for page in ("", "withdraw/", "comment/", "comment/stored/", "device/"):
        first.open(f"/work/{page}?work={digest_of(one.pk)}")
        assert "Sports pages" in first.text
        assert f'You take part as <span translate="no">{one.annotator.pseudonym}' in first.text


def test_carries_its_work_in_every_form_at_work() -> None:
    """But those that act for the whole browser: the consent, and the code from elsewhere."""
    browser = Client()
    tab, one = begun(browser, make.running_batch(training=1, tests=2))
    pages = []
    while not one.is_finished:
        tab.reload()
        pages.append(tab.forms)
        action = next(name for name in tab.forms if name in (SUBMIT, "/work/next/", "/work/begin/"))
        tab.send(action, right(one) if action == SUBMIT else {})
        one.refresh_from_db()
    pages.append(tab.forms)
    for page in ("withdraw/", "comment/", "device/"):
        tab.open(f"/work/{page}?work={digest_of(one.pk)}")
        pages.append(tab.forms)
    assert len(pages) >= 7
    sent = [(name, fields.get("work")) for forms in pages for name, fields in forms.items() if name]
    assert {work for _name, work in sent} == {digest_of(one.pk)}
    assert {name for name, _work in sent} >= {SUBMIT, "/work/next/", "/work/leave/", "/language/"}
