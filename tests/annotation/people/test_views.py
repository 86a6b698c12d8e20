"""The pages that watch a study, as somebody who may open them sees them."""

import csv
import io
import re
from copy import deepcopy
from datetime import datetime, timedelta
from decimal import Decimal
from html import unescape
from types import SimpleNamespace

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from openpyxl import load_workbook
from pytest_django import DjangoAssertNumQueries

from annotation.access.rights import RIGHTS, Right
from annotation.models import (
    Assignment,
    Batch,
    ChangeAction,
    Example,
    JoinAnswer,
    Outcome,
    Place,
    SubmissionStatus,
)
from annotation.payments.ledger import COLUMNS, approve, due_of, open_bonuses, write_payout
from annotation.people.flags import ENOUGH_ANSWERS, _has_wrong
from annotation.people.overview import ENOUGH_JOINS, overview
from annotation.people.rows import COLUMNS as PEOPLE_COLUMNS
from annotation.people.rows import rows
from annotation.studies.lifecycle import close_study
from annotation.studies.monitoring import study_figures
from annotation.studies.people import erase_annotator, exclude
from annotation.work.commenting import add_comment
from annotation.work.finishing import finish
from annotation.work.joining import Full, count_answer
from annotation.work.judging import begin, leave_reveal, submit_answer
from scoring.tables.table import Column
from tests import make
from tests.every import every
from tests.made_once import once_a_module

pytestmark = pytest.mark.django_db


def made_batch() -> Batch:
    make.channel("simulated")
    return make.running_batch(via="prolific", wanted=4, training=1, tests=3)


batch_once = once_a_module(made_batch)


@pytest.fixture
def batch(batch_once: Batch) -> Batch:
    return deepcopy(batch_once)


@pytest.fixture
def researcher(admin_client: Client) -> Client:
    return admin_client


def path(name: str, batch: Batch, *more: object) -> str:
    return reverse(f"annotation:{name}", args=[batch.study.slug, *more])


def read(client: Client, name: str, batch: Batch, *more: object, query: str = "") -> str:
    page = client.get(path(name, batch, *more) + query)
    assert page.status_code == 200
    return page.content.decode()


def standing(batch: Batch, *, at: datetime) -> SimpleNamespace:
    figures = study_figures(batch.study, at=at)
    return SimpleNamespace(
        **overview(batch.study, rows(batch.study), figures, rights=frozenset(Right), at=at)
    )


# What the overview tells only whoever has more than a viewer's rights.
MORE = {
    **dict.fromkeys(("flags", "flagged", "burst", "problems"), "editor"),
    **dict.fromkeys(("hourly_pay", "so_far", "expected", "bonuses", "to_approve"), "owner"),
}


@pytest.mark.parametrize("role", RIGHTS)
def test_fills_what_a_role_opens(role: str) -> None:
    batch = make.running_batch(training=0, zero_shot=True, wanted=ENOUGH_JOINS)
    for _ in range(ENOUGH_JOINS):
        make.worked_through(batch)
    at = make.NOON + timedelta(days=9)
    figures, everybody = study_figures(batch.study, at=at), rows(batch.study)
    told = overview(batch.study, everybody, figures, rights=RIGHTS[role], at=at)
    whole = overview(batch.study, everybody, figures, rights=frozenset(Right), at=at)
    closed = {key for key, value in whole.items() if value is not None and told[key] is None}
    order = list(RIGHTS)
    assert closed == {k for k, least in MORE.items() if order.index(role) < order.index(least)}


def signed_in(batch: Batch, role: str) -> Client:
    client = Client()
    client.force_login(make.member(batch.study, role))
    return client


def test_shows_a_mark_for_each_place(researcher: Client, batch: Batch) -> None:
    now = timezone.now()
    make.worked_through(batch)
    make.joined(batch, at=now)
    finish(make.joined(batch, at=now), Outcome.SCREENED_OUT, at=now)
    finish(make.joined(batch, at=now), Outcome.WITHDRAWN, at=now)
    page = read(researcher, "watch", batch)
    assert "●◐○○ ✕" in page
    assert "1 of 4 finished, 1 at work, 1 screened out, 1 lost" in page


def test_counts_no_simulated_person(researcher: Client, batch: Batch) -> None:
    assignment = make.worked_through(batch)
    assignment.annotator.channel = make.channel("simulated")
    assignment.annotator.save()
    page = read(researcher, "people", batch)
    assert assignment.annotator.pseudonym not in page


def test_reads_everybody_once(
    researcher: Client, batch: Batch, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    make.worked_through(batch)
    read(researcher, "watch", batch)
    with django_assert_max_num_queries(30) as queries:
        read(researcher, "watch", batch)
    names_people = '"annotation_annotator"."pseudonym"'
    assert sum(names_people in query["sql"] for query in queries) == 1


@pytest.mark.parametrize(("via", "is_told"), [("link", True), ("prolific", False)])
def test_tells_of_many_joins_within_minutes_by_an_open_link(
    researcher: Client, via: str, is_told: bool
) -> None:
    batch = make.running_batch(via=via, wanted=20)
    for second in range(12):
        make.joined(batch, at=make.NOON + timedelta(hours=2, seconds=second))
    page = read(researcher, "watch", batch)
    assert ("12 of 12 people joined within 5 minutes" in page) is is_told


def test_says_in_a_line_each_what_waits(researcher: Client) -> None:
    batch = make.running_batch(wanted=2)
    for _ in range(2):
        make.worked_through(batch)
    page = read(researcher, "watch", batch)
    assert "2 bonuses wait" in page
    assert "came when all places were taken" not in page
    for _ in range(ENOUGH_JOINS):
        count_answer(batch.study, JoinAnswer.FULL, at=make.NOON)
    assert "10 people came when all places were taken" in read(researcher, "watch", batch)
    viewer = read(signed_in(batch, "viewer"), "watch", batch)
    assert "bonus" not in viewer


def test_says_what_it_costs_and_when_it_is_full(batch: Batch) -> None:
    for _ in range(2):
        make.worked_through(batch)
    batch.study.platform_fee = Decimal(25)
    batch.study.save()
    spent = sum(a.amount for a in Assignment.objects.all() if a.amount)
    seen = standing(batch, at=make.NOON + timedelta(hours=1))
    assert seen.so_far == (spent * Decimal("1.25")).quantize(Decimal("0.01"))
    assert seen.expected > seen.so_far
    assert seen.pace == pytest.approx(2)
    assert seen.full_in_hours == pytest.approx(1)


def test_expects_no_more_cost_once_closed(batch: Batch) -> None:
    make.worked_through(batch)
    close_study(batch.study, at=make.NOON)
    seen = standing(batch, at=make.NOON)
    assert seen.expected == seen.so_far
    assert not seen.can_change


@pytest.mark.parametrize(
    ("role", "is_shown"), [("owner", True), ("editor", True), ("viewer", False)]
)
def test_hands_out_the_link_of_an_open_study_to_those_who_set_it_up(
    batch: Batch, role: str, is_shown: bool
) -> None:
    client = signed_in(batch, role)
    link = f"/join/{batch.study.join_token}/"
    assert (link in read(client, "watch", batch)) is is_shown
    close_study(batch.study, at=timezone.now())
    assert link not in read(client, "watch", batch)


def test_goes_on_while_somebody_may_still_send_a_last_page(
    researcher: Client, batch: Batch
) -> None:
    make.at_work(batch)
    assert "<dt>At work</dt>" in read(researcher, "watch", batch)
    close_study(batch.study, at=make.NOON)
    assert standing(batch, at=make.NOON).can_change
    page = read(researcher, "watch", batch)
    assert "<dt>May still send a last page, until 12:03 UTC</dt><dd>1</dd>" in page
    assert "<dt>At work</dt>" not in page


def test_names_items_with_reported_problems(researcher: Client, batch: Batch) -> None:
    assignment = make.at_work(batch)
    for _ in range(2):
        add_comment(assignment, text="The text is cut off.", step=0, at=make.NOON)
    page = read(researcher, "watch", batch)
    assert "2 problems reported with item" in page
    assert "The text is cut off." not in page


def test_names_an_item_by_its_id_and_how_it_begins(researcher: Client, batch: Batch) -> None:
    add_comment(make.at_work(batch), text="The text is cut off.", step=0, at=make.NOON)
    [(pk, item, _count)] = standing(batch, at=make.NOON).problems
    example = Example.objects.get(pk=pk)
    name, _, beginning = item.partition(" “")
    assert example.identity.startswith(name.strip("…"))
    assert example.context[0].startswith(beginning.strip("…”"))
    page = read(researcher, "watch", batch)
    [address] = re.findall(r'href="(/admin/annotation/comment/[^"]*example=[^"]*)"', page)
    assert "The text is cut off." in researcher.get(unescape(address)).content.decode()


@pytest.mark.parametrize(("role", "is_shown"), [("owner", True), ("editor", False)])
def test_tells_owners_alone_what_is_paid(batch: Batch, role: str, is_shown: bool) -> None:
    assignment = make.worked_through(batch)
    client = signed_in(batch, role)
    assert ("Cost so far" in read(client, "watch", batch)) is is_shown
    assert ("Pay so far" in read(client, "people", batch)) is is_shown
    header = read(client, "people_export", batch).splitlines()[0]
    assert ("pay" in header.split(",")) is is_shown
    person = read(client, "person", batch, assignment.pk)
    assert (" due; the platform pays" in person) is is_shown


@pytest.mark.parametrize(("role", "is_shown"), [("owner", True), ("editor", False)])
def test_tells_owners_alone_who_it_is(batch: Batch, role: str, is_shown: bool) -> None:
    assignment = make.worked_through(batch, who=make.annotator("prolific", "PERSON-7"))
    client = signed_in(batch, role)
    page = read(client, "person", batch, assignment.pk)
    assert ("PERSON-7" in page) is is_shown
    assert (assignment.resume_token in page) is is_shown
    assert "PERSON-7" not in read(client, "people", batch) + read(client, "people_export", batch)


def test_shows_scores_after_the_end_alone(researcher: Client, batch: Batch) -> None:
    assignment = make.at_work(batch)
    make.answer(assignment)
    page = read(researcher, "person", batch, assignment.pk)
    assert "Scores are shown once the work has ended." in page
    assert '<td class="r-number">100</td>' not in page
    finish(assignment, Outcome.WITHDRAWN, at=make.NOON)
    assert '<td class="r-number">100</td>' in read(researcher, "person", batch, assignment.pk)


def test_shows_beside_which_answers_the_page_was_translated(
    researcher: Client, batch: Batch
) -> None:
    assignment = make.at_work(batch)
    form = make.right_answer(assignment)
    submit_answer(assignment, step=0, form=form, times={"translated": True}, at=make.NOON)
    leave_reveal(assignment, step=0, at=make.NOON)
    begin(assignment, step=1, at=make.NOON)
    form = make.right_answer(assignment)
    submit_answer(assignment, step=1, form=form, times={"translated": False}, at=make.NOON)
    page = read(researcher, "person", batch, assignment.pk)
    told = "a browser or an extension translated the page in 1 of 2 answers"
    assert f'<span class="r-flag">page translated</span> {told}' in page
    # Once among the flags, once beside the one answer.
    assert page.count('<span class="r-flag">page translated</span>') == 2


def test_offers_a_dictionary_beside_the_payments(researcher: Client, batch: Batch) -> None:
    dictionary = path("payments_dictionary", batch)
    assert dictionary in read(researcher, "exports", batch)
    lines = csv.DictReader(io.StringIO(researcher.get(dictionary).content.decode("utf-8-sig")))
    told = {line["column"]: line["meaning"] for line in lines}
    assert list(told) == [column.key for column in COLUMNS]
    assert every(told.values())


def test_leads_from_a_score_to_the_item_and_its_gold(researcher: Client, batch: Batch) -> None:
    assignment = make.worked_through(batch)
    tested = batch.test_set.items.order_by("pk")[0].example_id
    item = reverse("scoring:item", args=["study", batch.study.slug, tested])
    assert f'<a href="{item}">' in read(researcher, "person", batch, assignment.pk)
    assert researcher.get(item).status_code == 200


def test_exports_what_the_filters_leave(researcher: Client, batch: Batch) -> None:
    done, _working = make.worked_through(batch), make.at_work(batch)
    text = read(researcher, "people_export", batch, query="?state=completed")
    rows = list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"))))
    assert text.startswith("\ufeff")
    assert [row["annotator"] for row in rows] == [done.annotator.pseudonym]
    assert (rows[0]["items_done"], rows[0]["items"]) == ("4", "4")


def test_writes_the_same_table_as_a_workbook(batch: Batch) -> None:
    make.worked_through(batch)
    for role in ("owner", "editor"):
        client = signed_in(batch, role)
        url = reverse("annotation:people_workbook", args=[batch.study.slug])
        book = load_workbook(io.BytesIO(client.get(url).content))
        heads, values = book["people"].iter_rows(values_only=True)
        text = read(client, "people_export", batch).removeprefix("\ufeff")
        [row] = csv.DictReader(io.StringIO(text))
        assert len(heads) == len(row)
        cells = dict(zip(heads, values, strict=True))
        assert str(cells["items_done"]) == row["items_done"]
        assert str(cells["last_sign_of_life"])[:19] == row["last_sign_of_life"][:19].replace(
            "T", " "
        )


def test_releases_a_place_for_whoever_comes_first(researcher: Client) -> None:
    batch = make.running_batch(wanted=1)
    now = timezone.now()
    holder = make.at_work(batch, at=now)
    with pytest.raises(Full):
        make.joined(batch, at=now)
    assert researcher.post(path("release_place", batch, holder.pk)).status_code == 302
    holder.refresh_from_db()
    assert holder.outcome == ""
    assert batch.study.changes.filter(action=ChangeAction.PLACE_RELEASED).count() == 1
    newcomer = make.joined(batch, at=timezone.now())
    assert Place.objects.get(batch=batch).holder == newcomer


def test_shows_a_released_place_at_once(researcher: Client) -> None:
    batch = make.running_batch(wanted=1)
    holder = make.at_work(batch, at=timezone.now())
    before = read(researcher, "watch", batch)
    assert "0 of 1 finished, 1 at work" in before
    assert "Release the place" in read(researcher, "person", batch, holder.pk)
    researcher.post(path("release_place", batch, holder.pk))
    person = read(researcher, "person", batch, holder.pk)
    assert "away: the place is open to others" in person
    assert "the place was released" in person
    assert "<h2>Release the place</h2>" not in person
    assert "away, place open" in read(researcher, "people", batch)
    watch = read(researcher, "watch", batch)
    assert "0 of 1 finished, 0 at work" in watch
    assert "0 of 1 places finished, 0 taken" in watch


def test_says_so_when_there_is_no_place_to_release(researcher: Client, batch: Batch) -> None:
    done = make.worked_through(batch)
    response = researcher.post(path("release_place", batch, done.pk))
    assert response.status_code == 409
    assert Place.objects.get(holder=done).kept


def test_excludes_with_a_reason(researcher: Client, batch: Batch) -> None:
    done = make.worked_through(batch)
    url = path("exclude_person", batch, done.pk)
    assert researcher.post(url, {"reason": " "}).status_code == 422
    assert researcher.post(url, {"reason": "a machine"}).status_code == 302
    assert done.exclusion.reason == "a machine"
    assert "excluded: a machine" in read(researcher, "person", batch, done.pk)


def test_does_not_show_a_person_of_another_study(researcher: Client, batch: Batch) -> None:
    other = make.worked_through(make.running_batch())
    assert researcher.get(path("person", batch, other.pk)).status_code == 404


def test_asks_as_few_questions_for_many_as_for_few(researcher: Client) -> None:
    batch = make.running_batch(wanted=30, training=1, tests=ENOUGH_ANSWERS)
    pages = [path(name, batch) for name in ("watch", "people", "payments")]
    pages.append(reverse("scoring:comparison", args=["study", batch.study.slug]))

    def questions(htmx: str) -> list[int]:
        _has_wrong.clear()  # as a process that has just started
        counts = []
        for page in pages:
            with CaptureQueriesContext(connection) as asked:
                assert researcher.get(page, headers={"HX-Request": htmx}).status_code == 200
            counts.append(len(asked))
        return counts

    def work(several: int) -> None:
        for wrong in range(several):
            pair = [make.worked_through(batch, wrong=wrong) for _ in range(2)]
            approve(batch.study, [pair[0].pk], at=make.NOON)
            exclude(pair[1], reason="a machine")
        make.at_work(batch)
        questions("")  # brings summaries and scores up to date

    work(5)
    few = questions(""), questions("true")
    work(9)
    assert (questions(""), questions("true")) == few


def test_approves_thousands_at_once(researcher: Client, batch: Batch) -> None:
    """As the page lists them: in one field, since a form may not have so many."""
    first, second = make.worked_through(batch), make.worked_through(batch)
    page = read(researcher, "payments", batch)
    [listed] = re.findall(r'name="listed" value="([^"]*)"', page)
    assert set(listed.split()) == {str(first.pk), str(second.pk)}
    researcher.post(path("approve_payments", batch), {"all": "1", "listed": listed})
    assert [first.payment_lines.count(), second.payment_lines.count()] == [1, 1]


def test_tells_what_several_have_in_common_in_one_line(researcher: Client, batch: Batch) -> None:
    made = [make.worked_through(batch) for _ in range(3)]
    for assignment in made:
        make.entered_by(assignment, f"sub-{assignment.pk}", status=SubmissionStatus.REJECTED)
    page = read(researcher, "watch", batch)
    assert '?flag=platform">3 people</a>: the platform says otherwise' in page
    assert not any(assignment.annotator.pseudonym in page for assignment in made)


def test_leads_to_what_is_to_be_done_next(researcher: Client, batch: Batch) -> None:
    done = make.worked_through(batch)
    page = read(researcher, "payments", batch)
    assert "Approve the one that waits" in page
    assert "Send the open bonuses" not in page
    approve(batch.study, [done.pk], at=make.NOON)
    page = read(researcher, "payments", batch)
    assert "Send the open bonuses…" in page
    write_payout(batch.study, digest=open_bonuses(batch.study).digest, at=make.NOON)
    assert "All are paid." in read(researcher, "payments", batch)


def test_orders_everybody_and_shows_the_columns_that_were_chosen(
    researcher: Client, batch: Batch
) -> None:
    far, near = make.worked_through(batch), make.at_work(batch)
    query = "?sort=people:state&columns-people=state&columns-people=time_against_median"
    table = researcher.get(path("people", batch) + query).context["table"]
    assert table.keys == ["annotator", "state", "time_against_median"]
    assert {column.key for column in table.further} >= {"paid_minutes", "practice_score", "flags"}
    shown = [record["annotator"] for record in table.records]
    assert shown == [near.annotator.pseudonym, far.annotator.pseudonym]
    back = researcher.get(path("people", batch) + query.replace(":", ":-")).context["table"]
    assert [record["annotator"] for record in back.records] == shown[::-1]


def test_renews_the_lines_alone_and_takes_another_order_from_the_whole_page(
    researcher: Client, batch: Batch
) -> None:
    make.worked_through(batch)
    polled = researcher.get(path("people", batch), HTTP_HX_REQUEST="true", HTTP_HX_TARGET="rows")
    assert polled.content.decode().lstrip().startswith('<div id="rows"')
    whole = researcher.get(path("people", batch), HTTP_HX_REQUEST="true", HTTP_HX_TARGET="main")
    assert 'id="content"' in whole.content.decode()


def test_offers_a_box_for_what_waits_and_marks_an_hour_that_pays_too_little(
    researcher: Client, batch: Batch
) -> None:
    approved, waiting = make.worked_through(batch), make.worked_through(batch)
    batch.study.hourly_rate = 9_000
    batch.study.save()
    approve(batch.study, [approved.pk], at=make.NOON)
    table = researcher.get(path("payments", batch)).context["table"]
    cells = {line.cell(table.columns[0]).value: line.cells for line in table.lines}
    told = cells[approved.annotator.pseudonym]["approved"]
    assert (told.value, told.tick) == ("yes", "")
    told = cells[waiting.annotator.pseudonym]["approved"]
    assert (told.value, told.tick) == ("waits", str(waiting.pk))
    page = read(researcher, "payments", batch)
    assert f'form="payments" name="approved" value="{waiting.pk}"' in page
    assert 'id="payments"' in page
    assert table.notes == {"↓": "far below the study’s rate for an hour from consent to the end"}


@pytest.mark.parametrize("columns", [COLUMNS, PEOPLE_COLUMNS])
def test_says_of_every_column_what_it_means(columns: tuple[Column, ...]) -> None:
    assert every(column.meaning for column in columns)


def test_stops_renewing_once_nothing_can_change(researcher: Client, batch: Batch) -> None:
    assert "hx-trigger" in read(researcher, "people", batch)
    close_study(batch.study, at=make.NOON)
    assert "hx-trigger" not in read(researcher, "people", batch)


def test_approves_those_who_were_ticked(researcher: Client, batch: Batch) -> None:
    first, second = make.worked_through(batch), make.worked_through(batch)
    url = path("approve_payments", batch)
    researcher.post(url, {"approved": [first.pk], "listed": [first.pk, second.pk]})
    assert [first.payment_lines.count(), second.payment_lines.count()] == [1, 0]
    researcher.post(url, {"all": "1", "listed": [first.pk, second.pk]})
    assert [first.payment_lines.count(), second.payment_lines.count()] == [1, 1]


def test_marks_as_sent_what_the_dry_run_showed(researcher: Client, batch: Batch) -> None:
    done = make.worked_through(batch)
    approve(batch.study, [done.pk], at=make.NOON)
    url = path("send_payments", batch)
    page = researcher.get(url)
    digest = page.context["bonuses"].digest
    assert researcher.post(url, {"digest": "older"}).status_code == 409
    assert researcher.post(url, {"digest": digest}).status_code == 302
    assert researcher.post(url, {"digest": digest}).status_code == 409
    assert done.payment_lines.filter(purpose="bonus").count() == 1


@pytest.mark.parametrize(
    ("via", "file"), [("prolific", "payments.prolific"), ("link", "payments.csv")]
)
def test_says_where_the_money_goes_from(researcher: Client, via: str, file: str) -> None:
    batch = make.running_batch(via=via)
    approve(batch.study, [make.worked_through(batch).pk], at=make.NOON)
    page = read(researcher, "send_payments", batch)
    assert f"{file}?seen=" in page or f'{file}"' in page
    assert ("Prolific" in page.partition("<ol>")[2]) is (via == "prolific")


def test_stores_what_the_platform_pays_itself(researcher: Client, batch: Batch) -> None:
    url = path("set_rewards", batch)
    assert researcher.post(url, {"completed": "-1", "screened_out": "x"}).status_code == 422
    researcher.post(url, {"completed": "2.50", "screened_out": "0.20"})
    rules = dict(batch.study.outcome_rules.values_list("outcome", "platform_pays"))
    assert (rules["completed"], rules["screened_out"]) == (Decimal("2.50"), Decimal("0.20"))


def test_changes_no_reward_that_counts_as_paid_without_a_word(
    researcher: Client, batch: Batch
) -> None:
    url = path("set_rewards", batch)
    researcher.post(url, {"completed": "2.50", "screened_out": "0"})
    researcher.post(url, {"completed": "2.00", "screened_out": "0"})
    done = make.worked_through(batch)
    for amount in ("0.10", "3"):
        refused = researcher.post(url, {"completed": amount, "screened_out": "0"})
        assert refused.status_code == 409
        assert "1 person has finished" in refused.content.decode()
    rule = batch.study.outcome_rules.get(outcome="completed")
    assert rule.platform_pays == Decimal("2.00")
    everybody = {"completed": "0.10", "screened_out": "0", "to_everybody": "on"}
    assert researcher.post(url, everybody).status_code == 302
    rule.refresh_from_db()
    assert rule.platform_pays == Decimal("0.10")
    # What was promised at the end stays due, whatever the platform pays of it.
    due = due_of(done)
    assert due
    assert (due.total, due.base, due.open) == (2, Decimal("0.10"), Decimal("1.90"))


def test_tells_of_a_correction_wherever_money_is_told(researcher: Client, batch: Batch) -> None:
    done = make.worked_through(batch)
    approve(batch.study, [done.pk], at=make.NOON)
    before = standing(batch, at=make.NOON).so_far
    reason = {"amount": "5.00", "reason": "The page was slow.", "lines": "1"}
    researcher.post(path("correct_payment", batch, done.pk), reason)
    assert "pay corrected by 5.00 USD: The page was slow." in read(
        researcher, "person", batch, done.pk
    ).replace("\xa0", " ")
    assert standing(batch, at=make.NOON).so_far == before + 5
    (row,) = rows(batch.study)
    assert row.pay == due_of(done).total
    editor = signed_in(batch, "editor").get(path("person", batch, done.pk)).content.decode()
    assert "The page was slow" not in editor


def test_corrects_and_says_what_is_wrong_with_a_correction(
    researcher: Client, batch: Batch
) -> None:
    done = make.worked_through(batch)
    url = path("correct_payment", batch, done.pk)
    form = {"amount": "0.50", "reason": "slow page", "lines": "1"}
    refused = researcher.post(url, form)
    assert refused.status_code == 422
    assert "approve what is due first" in refused.content.decode()
    approve(batch.study, [done.pk], at=make.NOON)
    page = read(researcher, "person", batch, done.pk)
    assert '<input type="hidden" name="lines" value="1"' in page
    assert researcher.post(url, form).status_code == 302
    # The same form again, as a second click sends it.
    again = researcher.post(url, form)
    assert again.status_code == 422
    assert "have changed since this page was shown" in again.content.decode()
    assert researcher.post(url, {"amount": "", "reason": ""}).status_code == 422
    assert done.payment_lines.count() == 2


def test_says_how_many_bonuses_wait_for_approval(researcher: Client, batch: Batch) -> None:
    approved, _waiting = make.worked_through(batch), make.worked_through(batch)
    overview, send = path("watch", batch), path("send_payments", batch)
    assert "2 bonuses wait</a>: to be approved first" in read(researcher, "watch", batch)
    approve(batch.study, [approved.pk], at=make.NOON)
    assert "approve 1 of them first" in researcher.get(overview).content.decode()
    page = researcher.get(send)
    text = " ".join(re.sub(r"<[^>]+>", "", page.content.decode()).split())
    amount = f"{open_bonuses(batch.study).total}\xa0USD"
    assert f"1 approved person, {amount}.".replace("\xa0", " ") in text
    assert f"1 more ({amount}) waits for approval: approve it".replace("\xa0", " ") in text
    sent = researcher.post(send, {"digest": page.context["bonuses"].digest}, follow=True)
    assert f"Written down as sent: {amount} to 1 person." in sent.content.decode()


def test_means_of_a_column_what_the_page_shows_in_it(researcher: Client, batch: Batch) -> None:
    make.worked_through(batch)
    page = read(researcher, "payments", batch)
    assert "number of the assignment" not in page
    assert "whether what is due was approved" in page


def test_lifts_an_exclusion_and_says_what_becomes_of_frozen_verdicts(
    researcher: Client, batch: Batch
) -> None:
    done, warning = make.worked_through(batch), "its verdicts get a new version"
    assert warning not in read(researcher, "person", batch, done.pk)
    close_study(batch.study, at=make.NOON)
    assert warning in read(researcher, "person", batch, done.pk)
    mark = path("exclude_person", batch, done.pk)
    told = researcher.post(mark, {"reason": "a machine"}, follow=True)
    assert warning in " ".join(map(str, told.context["messages"]))
    told = researcher.post(path("lift_person", batch, done.pk), follow=True)
    assert warning in " ".join(map(str, told.context["messages"]))
    assert not hasattr(Assignment.objects.get(pk=done.pk), "exclusion")


def test_finds_the_excluded(researcher: Client, batch: Batch) -> None:
    marked, counted = make.worked_through(batch), make.worked_through(batch)
    exclude(marked, reason="bot")
    page = read(researcher, "people", batch, query="?state=excluded")
    assert marked.annotator.pseudonym in page
    assert counted.annotator.pseudonym not in page


def test_offers_a_message_where_somebody_can_be_written_to(
    researcher: Client, batch: Batch
) -> None:
    known = make.worked_through(batch)
    assert 'data-copied="Copied">Hello, thank you' in read(researcher, "person", batch, known.pk)
    erase_annotator(known.annotator, at=make.NOON)
    assert "Message to copy" not in read(researcher, "person", batch, known.pk)
