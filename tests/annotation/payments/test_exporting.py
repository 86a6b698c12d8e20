"""Payments as files: complete, and without touching the ledger."""

import csv
import io
import re
from decimal import Decimal
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.models import Outcome, Study
from annotation.payments.ledger import (
    COLUMNS,
    FORMATS,
    NONE_OPEN,
    approve,
    correct,
    due_of,
    export_payments,
    open_bonuses,
    write_payout,
)
from tests import make
from tests.annotation.payments.test_ledger import base, ended

pytestmark = pytest.mark.django_db


def rows(study: Study) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO("".join(export_payments(study, "csv")))))


def written(capsys: pytest.CaptureFixture[str], *arguments: Any) -> str:
    call_command("export_payments", *arguments)
    return capsys.readouterr().out


def test_says_what_is_due_paid_sent_and_open() -> None:
    batch = make.running_batch()
    assignment = ended(batch)
    base(batch.study, Outcome.COMPLETED, "2.00")
    [row] = rows(batch.study)
    assert list(row) == [column.key for column in COLUMNS]
    said = [row[name] for name in ("earned", "approved", "due", "base", "sent", "open")]
    assert said == ["3.00", "", "3.00", "2.00", "0.00", "1.00"]
    assert row["external_id"] == assignment.annotator.external_id
    assert row["paid_minutes"] == "15.00"


def test_adds_up_to_whole_cents() -> None:
    batch = make.running_batch()
    assignment = ended(batch, amount="1.10")
    approve(batch.study, [assignment.pk], at=make.NOON)
    for _ in range(2):
        correct(assignment, amount=Decimal("0.10"), reason="Slow.", at=make.NOON)
    [row] = rows(batch.study)
    assert (row["approved"], row["open"], row["overpaid"]) == ("1.30", "1.30", "0.00")
    write_payout(batch.study, digest=open_bonuses(batch.study).digest, at=make.NOON)
    [row] = rows(batch.study)
    assert (row["sent"], row["open"], row["overpaid"]) == ("1.30", "0.00", "0.00")


def test_files_for_the_platform_hold_approved_and_unsent_bonuses_alone() -> None:
    batch = make.running_batch(wanted=4)
    paid, approved, _waiting = ended(batch), ended(batch), ended(batch)
    approve(batch.study, [paid.pk], at=make.NOON)
    write_payout(batch.study, digest=open_bonuses(batch.study).digest, at=make.NOON)
    approve(batch.study, [approved.pk], at=make.NOON)
    lines = list(export_payments(batch.study, "prolific"))
    assert lines == [f"{approved.annotator.external_id},3.00\n"]


@pytest.mark.parametrize("file_format", FORMATS)
def test_writes_nothing_when_a_file_is_read(client: Client, file_format: str) -> None:
    batch = make.running_batch()
    approve(batch.study, [ended(batch).pk], at=make.NOON)
    client.force_login(make.member(batch.study))
    address = reverse("annotation:export_payments", args=(batch.study.slug, file_format))
    with CaptureQueriesContext(connection) as queries:
        assert client.get(address).status_code == 200
    assert queries.captured_queries
    written = re.compile("INSERT|UPDATE|DELETE")
    assert not [one["sql"] for one in queries.captured_queries if written.match(one["sql"])]


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ("", "2.00"),
        ("AWAITING REVIEW", "2.00"),
        ("APPROVED", "2.00"),
        ("SCREENED OUT", "0.20"),
        ("RETURNED", "0"),
        ("REJECTED", "0"),
        ("TIMED-OUT", "0"),
    ],
)
def test_believes_the_platform_about_what_it_paid(status: str, expected: str) -> None:
    batch = make.running_batch()
    assignment = ended(batch)
    base(batch.study, Outcome.COMPLETED, "2.00")
    base(batch.study, Outcome.SCREENED_OUT, "0.20")
    if status:
        make.entered_by(assignment, status=status)
    assert due_of(assignment).base == Decimal(expected)


def test_a_name_that_a_spreadsheet_would_compute_is_only_a_name() -> None:
    batch = make.running_batch()
    assignment = ended(batch)
    assignment.annotator.external_id = "=1+1"
    assignment.annotator.save()
    assert rows(batch.study)[0]["external_id"] == "'=1+1"


def test_prints_the_document_alone(capsys: pytest.CaptureFixture[str]) -> None:
    batch = make.running_batch()
    assignment = ended(batch)
    approve(batch.study, [assignment.pk], at=make.NOON)
    printed = written(capsys, "--study", batch.study.slug, "--format", "prolific")
    assert printed == f"{assignment.annotator.external_id},3.00\n"


def test_refuses_a_study_that_is_not_there() -> None:
    with pytest.raises(CommandError, match="There is no study 'none'"):
        call_command("export_payments", "--study", "none")


def test_says_where_nothing_is_approved_for_the_platform(
    capsys: pytest.CaptureFixture[str],
) -> None:
    batch = make.running_batch(via="prolific")
    make.worked_through(batch)
    call_command("export_payments", "--study", batch.study.slug, "--format", "prolific")
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err == f"{NONE_OPEN}\n"
