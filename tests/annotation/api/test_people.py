"""Progress, people, data and payments of a study over the API."""

import csv
import json
from io import StringIO
from typing import Any

import pytest
from rest_framework.test import APIClient

from annotation.access.rights import RIGHTS
from annotation.api.people import BATCHES, PERSON_COLUMNS, PROGRESS
from annotation.models import Assignment, Batch, Exclusion, clock
from annotation.people.overview import TAKES
from annotation.studies.exported_judgements import export_judgements
from annotation.studies.exported_tables import EXPORTS
from annotation.studies.lifecycle import start_study
from annotation.studies.people import exclude
from tests import make
from tests.annotation.api.token_client import token_client
from tests.every import every

pytestmark = pytest.mark.django_db


@pytest.fixture
def batch() -> Batch:
    return make.running_batch(wanted=3)


def client_of(batch: Batch, role: str = "owner", *, pay: bool = True) -> APIClient:
    return token_client(make.member(batch.study, role), pay=pay)


def path(batch: Batch, rest: str) -> str:
    return f"/api/studies/{batch.study.slug}/{rest}"


def lines(client: APIClient, address: str) -> list[str]:
    answer: Any = client.get(address)
    assert answer.status_code == 200
    return [*answer.getvalue().decode().splitlines()]


def test_describes_every_field_that_is_told(batch: Batch) -> None:
    make.worked_through(batch)
    client = client_of(batch)
    told = client.get(path(batch, "progress/")).json()
    [person] = client.get(path(batch, "people/")).json()["results"]
    for record, columns in (
        *((told, PROGRESS), (told["batches"][0], BATCHES), (person, PERSON_COLUMNS)),
    ):
        assert [*record] == [one.key for one in columns]
        assert every(one.meaning for one in columns)
    found = client.get(path(batch, f"people/?batch={told['batches'][0]['id']}")).json()
    assert found["count"] == 1


@pytest.mark.parametrize("role", RIGHTS)
def test_tells_progress_as_far_as_the_role_goes(batch: Batch, role: str) -> None:
    make.worked_through(batch)
    told = client_of(batch, role).get(path(batch, "progress/")).json()
    assert (told["wanted"], told["kept"], told["working"]) == (3, 1, 0)
    keys = {key for key in TAKES if key not in ("burst", "hourly_pay")}
    assert {key for key in keys if told[key] is not None} == {
        key for key in keys if TAKES[key] in RIGHTS[role]
    }


def test_tells_no_pay_by_a_token_that_may_not(batch: Batch) -> None:
    make.worked_through(batch)
    told = client_of(batch, pay=False).get(path(batch, "progress/")).json()
    assert told["so_far"] is None
    [person] = client_of(batch, pay=False).get(path(batch, "people/")).json()["results"]
    assert "pay" not in person
    assert client_of(batch, pay=False).get(path(batch, "payments/")).status_code == 403


@pytest.mark.parametrize("rest", ["people/1/release/", "webhooks/", ""])
def test_leaves_descriptions_to_the_schema(batch: Batch, rest: str) -> None:
    assert client_of(batch).options(path(batch, rest)).status_code == 405


def test_lists_people_by_pseudonym(batch: Batch) -> None:
    assignment = make.worked_through(batch)
    make.at_work(batch)
    client = client_of(batch, "editor")
    told = client.get(path(batch, "people/")).json()
    assert told["count"] == 2
    [done] = client.get(path(batch, "people/?state=completed")).json()["results"]
    assert (done["id"], done["annotator"]) == (assignment.pk, assignment.annotator.pseudonym)
    assert (done["state"], "pay" in done) == ("completed", False)
    assert [json.loads(line) for line in lines(client, path(batch, "people/?format=jsonl"))] == (
        told["results"]
    )
    assert len(lines(client, path(batch, "people/?format=csv"))) == 3


def test_releases_a_place_once(batch: Batch) -> None:
    assignment = make.at_work(batch, at=clock.now())
    client, address = client_of(batch, "editor"), path(batch, f"people/{assignment.pk}/release/")
    assert client.post(address).json()["id"] == assignment.pk
    again = client.post(address)
    assert (again.status_code, list(again.json())) == (409, ["detail"])


def test_excludes_with_a_reason_and_by_whom(batch: Batch) -> None:
    assignment = make.worked_through(batch)
    client, address = client_of(batch, "editor"), path(batch, f"people/{assignment.pk}/exclude/")
    answer = client.post(address, {"reason": "A test of ours."}, format="json")
    assert (answer.status_code, answer.json()["excluded"]) == (200, True)
    exclusion = Exclusion.objects.get()
    assert exclusion.reason == "A test of ours."
    assert batch.study.changes.get(action="excluded").token == f"{exclusion.author}'s 1"


@pytest.mark.parametrize(
    "sent",
    [{}, {"reason": " "}, {"reason": 3}, {"reason": "\ud800"}, {"reason": "x" * 20_000}, []],
)
def test_excludes_nobody_without_a_reason(batch: Batch, sent: object) -> None:
    assignment = make.worked_through(batch)
    address = path(batch, f"people/{assignment.pk}/exclude/")
    content = json.dumps(sent)
    answer = client_of(batch, "editor").post(address, content, content_type="application/json")
    assert answer.status_code == 400
    assert list(answer.json()) == ["reason" if isinstance(sent, dict) else "detail"]
    assert not Exclusion.objects.exists()


def test_excludes_nobody_who_is_at_work_or_of_another_study(batch: Batch) -> None:
    working, other = make.at_work(batch), make.worked_through(make.running_batch())
    client, sent = client_of(batch, "editor"), {"reason": "A test of ours."}
    statuses = [
        client.post(path(batch, f"people/{pk}/exclude/"), sent, format="json").status_code
        for pk in (working.pk, other.pk)
    ]
    assert statuses == [409, 404]


def test_takes_people_by_pseudonym_and_lifts_an_exclusion(batch: Batch) -> None:
    assignment = make.worked_through(batch)
    client = client_of(batch, "editor")
    address = path(batch, f"people/{assignment.annotator}/exclude/")
    assert client.post(address, {"reason": "A test."}, format="json").json()["excluded"] is True
    assert client.delete(address).json()["excluded"] is False
    assert not Exclusion.objects.exists()
    working = make.at_work(batch, at=clock.now())
    released = client.post(path(batch, f"people/{working.annotator}/release/"))
    assert (released.status_code, released.json()["id"]) == (200, working.pk)


def test_lifts_no_exclusion_whose_place_is_gone(batch: Batch) -> None:
    assignment = make.worked_through(batch)
    exclude(assignment, reason="Pasted.", author=make.researcher())
    for _ in range(3):
        make.worked_through(batch)
    address = path(batch, f"people/{assignment.annotator}/exclude/")
    assert client_of(batch, "editor").delete(address).status_code == 409
    assert Exclusion.objects.exists()


def test_asks_which_place_of_somebody_who_has_several() -> None:
    study = make.study(make.benchmark())
    batches = [make.batch(study, make.task(study.benchmark)) for _ in range(2)]
    start_study(study, at=make.NOON)
    # As people whom others asked may have them.
    first, second = (make.worked_through(one) for one in batches)
    with make.unlocked():
        Assignment.objects.filter(pk=second.pk).update(annotator=first.annotator)
    answer = client_of(batches[0]).post(path(batches[0], f"people/{first.annotator}/release/"))
    assert (
        answer.status_code,
        answer.json()["detail"].endswith(f"({first.pk}, {second.pk})."),
    ) == (*(409, True),)


# Tables


def test_streams_judgements_as_the_command_writes_them(batch: Batch) -> None:
    make.worked_through(batch)
    client = client_of(batch, "editor")
    for form in ("jsonl", "csv"):
        told = lines(client, path(batch, f"judgements/?format={form}"))
        assert told == "".join(export_judgements(batch.study, form)).splitlines()
        assert len(told) > 3


def test_leaves_out_the_excluded_unless_they_are_asked_for(batch: Batch) -> None:
    exclude(make.worked_through(batch), reason="Pasted.", author=make.researcher())
    client = client_of(batch)
    counts = {
        asked: len(lines(client, path(batch, f"judgements/{asked}")))
        for asked in ("", "?with_excluded=false", "?with_excluded=true", "?with_excluded=on")
    }
    assert [many > 0 for many in counts.values()] == [False, False, True, True]


@pytest.mark.parametrize("name", [name for name in EXPORTS if name not in ("judgements", "people")])
def test_gives_the_same_table_in_both_forms(batch: Batch, name: str) -> None:
    make.worked_through(batch)
    client = client_of(batch)
    rows = [json.loads(line) for line in lines(client, path(batch, f"{name}/"))]
    table = list(csv.reader(StringIO("\n".join(lines(client, path(batch, f"{name}/?format=csv"))))))
    assert [list(row) for row in rows[:1]] == [table[0]][: len(rows)]
    assert len(rows) == len(table) - 1


@pytest.mark.parametrize("address", ["judgements/", "people/", "payments/"])
def test_knows_no_other_format(batch: Batch, address: str) -> None:
    answer = client_of(batch).get(path(batch, f"{address}?format=exe"))
    assert answer.status_code == 400
    assert "jsonl" in answer.json()["format"][0]


def test_gives_what_is_due(batch: Batch) -> None:
    assignment = make.worked_through(batch)
    client = client_of(batch)
    [due] = [json.loads(line) for line in lines(client, path(batch, "payments/"))]
    assert assignment.annotator.pseudonym in due.values()
    assert len(lines(client, path(batch, "payments/?format=csv"))) == 2
    assert client.get(path(batch, "payments/?format=prolific")).status_code == 409


def test_gives_a_batch_more_places(batch: Batch) -> None:
    client = client_of(batch)
    address = path(batch, f"batches/{batch.pk}/places/")
    wanted = batch.wanted
    told = client.post(address, {"wanted": wanted + 2}, format="json").json()
    assert (told["id"], told["wanted"]) == (batch.pk, wanted + 2)
    assert client.post(address, {"wanted": wanted}, format="json").status_code == 409
    other = path(batch, f"batches/{10**30}/places/")
    assert client.post(other, {"wanted": 3}, format="json").status_code == 404


def test_invites_people_each_by_a_link(batch: Batch) -> None:
    address = path(batch, "invitations/")
    client = client_of(batch)
    made = client.post(address, {"people": ["ann", "bo", "ann"]}, format="json").json()
    assert [one["id"] for one in made] == ["ann", "bo"]
    assert client.get(address).json() == made
    links = {str(one.token) for one in batch.study.invitations.all()}
    assert {one["link"].rstrip("/").rpartition("/")[2] for one in made} == links
    for sent, field in (
        ({"people": ["x" * 500]}, "people"),
        ({"people": ["c"], "pool": "no"}, "pool"),
    ):
        answer = client.post(address, sent, format="json")
        assert (answer.status_code, [*answer.json()]) == (400, [field])
    editor = token_client(make.member(batch.study, "editor"))
    assert editor.get(address).status_code == 403
