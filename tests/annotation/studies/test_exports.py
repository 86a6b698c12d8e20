"""The tables that leave a study, beside the judgements; each with a dictionary."""

import codecs
import csv
import io
import tracemalloc
from collections.abc import Iterable
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from openpyxl import load_workbook
from pytest_django import DjangoAssertNumQueries

from annotation.access.rights import Right
from annotation.models import Annotator, Batch, Change, Comment
from annotation.studies import exported_tables
from annotation.studies.exported_judgements import Chosen
from annotation.studies.exported_tables import EXPORTS, IDS, export_ids
from annotation.studies.people import exclude
from annotation.work.commenting import add_comment
from scoring.tables.table import Column
from tests import make
from tests.every import every
from tests.made_once import once_a_module

pytestmark = pytest.mark.django_db


def made_batch() -> Batch:
    made = make.running_batch(via="prolific", kind="spans", training=2, tests=3, wanted=5)
    anna = make.annotator("prolific", "PERSON-7")
    assignment = make.worked_through(made, who=anna)
    add_comment(assignment, text="=1+1 is odd, says Anna", step=None, at=make.NOON)
    make.worked_through(made, wrong=3)
    make.entered_by(assignment, "SESSION-7")
    return made


batch_once = once_a_module(made_batch)


@pytest.fixture
def batch(batch_once: Batch) -> Batch:
    return deepcopy(batch_once)


def read(lines: Iterable[str]) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO("".join(lines))))


@pytest.mark.both_databases
@pytest.mark.parametrize("name", [*EXPORTS, "ids"])
def test_says_what_every_column_means(batch: Batch, name: str) -> None:
    table = {**EXPORTS, "ids": IDS}[name]
    meanings = read(table.dictionary())
    assert every(row["meaning"] for row in meanings)
    assert [row["column"] for row in meanings] == list(read(table.lines(batch.study))[0])


def test_shows_a_table_to_those_who_may_see_all_of_its_columns() -> None:
    """A new column is closed to whoever may not see the gold, and with it its table."""
    rights = {name: set(table.rights) for name, table in {**EXPORTS, "ids": IDS}.items()}
    assert rights == {
        "judgements": {Right.PEOPLE, Right.GOLD},
        "assignments": {Right.PEOPLE},
        "people": {Right.PEOPLE},
        "items": {Right.GOLD},
        "problems": {Right.PEOPLE, Right.GOLD},
        "ids": {Right.IDS},
    }
    table = EXPORTS["people"]
    columns = (*table.table.columns, Column("new", meaning="Not there yet."))
    with_new = replace(table, table=replace(table.table, columns=columns))
    assert Right.GOLD in with_new.rights


@pytest.mark.parametrize("name", EXPORTS)
def test_names_nobody(batch: Batch, name: str) -> None:
    text = "".join(EXPORTS[name].lines(batch.study, Chosen(simulated=True, with_excluded=True)))
    person = Annotator.objects.get(external_id="PERSON-7")
    assignment = person.assignments.get()
    for secret in ("PERSON-7", "SESSION-7", person.identity_hash, assignment.resume_token):
        assert secret not in text


def test_tells_where_each_assignment_stands(batch: Batch) -> None:
    make.at_work(batch)
    rows = read(EXPORTS["assignments"].lines(batch.study))
    assert [row["outcome"] for row in rows] == ["completed", "completed", ""]
    assert (rows[0]["task"], rows[0]["shots"], rows[0]["split"]) == (batch.task.slug, "2", "1")
    assert float(rows[0]["training_score"]) == 100


def test_has_one_row_for_each_person(batch: Batch) -> None:
    rows = read(EXPORTS["people"].lines(batch.study))
    assert [(row["assignments"], row["completed"]) for row in rows] == [("1", "1")] * 2


def test_has_items_with_their_gold_as_it_stands(batch: Batch) -> None:
    rows = read(EXPORTS["items"].lines(batch.study))
    assert [row["role"] for row in rows] == ["training"] * 2 + ["test"] * 3
    assert rows[-1]["item"] == "test 2"
    assert rows[-1]["gold_version"] == "1"


def test_keeps_what_people_wrote_from_being_computed(batch: Batch) -> None:
    (row,) = read(EXPORTS["problems"].lines(batch.study))
    assert row["text"] == "'=1+1 is odd, says Anna"


@pytest.mark.parametrize("name", ["judgements", "assignments", "people", "problems"])
def test_leaves_out_the_excluded_unless_asked(batch: Batch, name: str) -> None:
    first = batch.assignments.order_by("pk").first()
    assert first is not None
    whole = list(EXPORTS[name].lines(batch.study))
    exclude(first, reason="asleep")
    assert len(list(EXPORTS[name].lines(batch.study))) < len(whole)
    with_excluded = list(EXPORTS[name].lines(batch.study, Chosen(with_excluded=True)))
    assert len(with_excluded) == len(whole)


def test_gives_ids_to_nobody_without_a_line_in_the_log(batch: Batch) -> None:
    owner = make.member(batch.study)
    rows = read(export_ids(batch.study, by=owner))
    assert (rows[0]["external_id"], rows[0]["submission_id"]) == ("PERSON-7", "SESSION-7")
    change = Change.objects.get(study=batch.study, action="ids_exported")
    assert change.user == owner
    assert "PERSON-7" not in str(change.before) + str(change.after)


def test_logs_before_the_first_line_is_read(batch: Batch) -> None:
    export_ids(batch.study)
    assert Change.objects.filter(action="ids_exported").count() == 1


@pytest.mark.parametrize("name", ["judgements", "assignments", "items", "problems"])
def test_reads_a_piece_at_a_time(
    batch: Batch, name: str, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    """Not one query for each row."""
    with django_assert_max_num_queries(10):
        list(EXPORTS[name].lines(batch.study))


def test_needs_no_more_memory_for_more_rows(batch: Batch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exported_tables, "PIECE", 10)
    first = batch.assignments.order_by("pk").first()
    assert first is not None

    def peak() -> int:
        tracemalloc.start()
        for _line in EXPORTS["problems"].lines(batch.study):
            pass
        _now, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    def written(count: int) -> None:
        Comment.objects.bulk_create(
            Comment(assignment=first, text=1000 * "long ", written_at=make.NOON)
            for _ in range(count)
        )

    # Each is measured the second time, when nothing is set up that stays.
    written(20)
    peak()
    few = peak()
    written(400)
    peak()
    assert peak() < 3 * few


# The pages


def get(client: Client, name: str, *arguments: Any) -> Any:
    return client.get(reverse(f"annotation:{name}", args=arguments))


def body(response: Any) -> str:
    assert not response.streaming  # a slow reader would hold a thread of the server
    return response.content.decode("utf-8-sig")


def test_offers_every_table_with_its_dictionary(admin_client: Client, batch: Batch) -> None:
    slug = batch.study.slug
    page = get(admin_client, "exports", slug).content.decode()
    for name in EXPORTS:
        assert reverse("annotation:export_dictionary", args=[slug, name]) in page
    assert reverse("scoring:bundle", args=[slug]) in page
    assert reverse("annotation:export_ids", args=[slug]) in page


def test_sends_a_table(admin_client: Client, batch: Batch) -> None:
    response = get(admin_client, "export", batch.study.slug, "assignments")
    assert len(read([body(response)])) == 2
    assert response["Content-Type"].startswith("text/csv")
    name = f"{batch.study.slug}-assignments.csv"
    assert f'filename="{name}"' in response["Content-Disposition"]


def test_carries_what_was_chosen_to_every_file(admin_client: Client, batch: Batch) -> None:
    first = batch.assignments.order_by("pk").first()
    assert first is not None
    exclude(first, reason="asleep")
    page = admin_client.get(
        reverse("annotation:exports", args=[batch.study.slug]) + "?with_excluded=on"
    )
    address = reverse("annotation:export", args=[batch.study.slug, "assignments"])
    assert f"{address}?with_excluded=on" in page.content.decode()
    assert len(read([body(admin_client.get(f"{address}?with_excluded=on"))])) == 2
    assert len(read([body(admin_client.get(address))])) == 1


def test_leads_to_the_judgements_own_page(admin_client: Client, batch: Batch) -> None:
    response = get(admin_client, "export", batch.study.slug, "judgements")
    assert response["Location"] == reverse(
        "annotation:export_judgements", args=[batch.study.slug, "csv"]
    )


@pytest.mark.parametrize("name", ["nothing", "ids"])
def test_knows_no_other_table(admin_client: Client, batch: Batch, name: str) -> None:
    assert get(admin_client, "export", batch.study.slug, name).status_code == 404


def test_sends_ids_to_owners_by_a_form(batch: Batch) -> None:
    client, address = Client(), reverse("annotation:export_ids", args=[batch.study.slug])
    client.force_login(make.member(batch.study))
    assert client.get(address).status_code == 405
    assert "PERSON-7" in body(client.post(address))
    assert Change.objects.filter(action="ids_exported").count() == 1


def test_offers_editors_no_ids(batch: Batch) -> None:
    client = Client()
    client.force_login(make.member(batch.study, "editor"))
    page = get(client, "exports", batch.study.slug).content.decode()
    assert reverse("annotation:export_ids", args=[batch.study.slug]) not in page


def test_writes_everything_into_a_folder(batch: Batch, tmp_path: Path) -> None:
    call_command("export_data", study=batch.study.slug, output=tmp_path / "data")
    names = {path.name for path in (tmp_path / "data").iterdir()}
    assert names == {f"{name}{end}.csv" for name in EXPORTS for end in ("", "-dictionary")}
    assert len(read([(tmp_path / "data" / "judgements.csv").read_text()])) == 10


def test_prints_ids(batch: Batch, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("export_ids", study=batch.study.slug)
    assert "PERSON-7" in capsys.readouterr().out


@pytest.mark.parametrize("name", [name for name in EXPORTS if name != "judgements"])
def test_has_each_table_as_a_workbook_with_its_meanings(
    admin_client: Client, batch: Batch, name: str
) -> None:
    response: Any = get(admin_client, "export_workbook", batch.study.slug, name)
    book = load_workbook(io.BytesIO(response.content))
    lines = list(book[name].iter_rows(values_only=True))
    table = EXPORTS[name].table
    assert list(lines[0]) == table.keys
    assert len(lines) - 1 == len(list(EXPORTS[name].lines(batch.study, form="jsonl")))
    assert f"{name}: {table.keys[0]}" in [row[0].value for row in book["meanings"].iter_rows()]


def test_has_no_workbook_of_what_may_be_large_or_names_people(
    admin_client: Client, batch: Batch
) -> None:
    for name in ("judgements", "ids", "nothing"):
        assert get(admin_client, "export_workbook", batch.study.slug, name).status_code == 404


def test_marks_the_csv_of_pages_alone_for_excel(admin_client: Client, batch: Batch) -> None:
    slug = batch.study.slug
    for page in (
        get(admin_client, "export", slug, "people"),
        get(admin_client, "export_dictionary", slug, "people"),
        get(admin_client, "export_judgements", slug, "csv"),
        get(admin_client, "export_payments", slug, "csv"),
    ):
        content: bytes = cast(Any, page).content
        assert content.startswith(codecs.BOM_UTF8)
        assert content.count(codecs.BOM_UTF8) == 1
    assert not "".join(EXPORTS["people"].lines(batch.study)).startswith("\ufeff")
