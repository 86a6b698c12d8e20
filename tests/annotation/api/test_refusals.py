"""What the API refuses, and in which words: whatever would be overlooked, in one sentence."""

import json
from typing import Any

import pytest

from annotation.models import Batch
from tests import make
from tests.annotation.api.token_client import token_client
from tests.made_once import once_a_module

pytestmark = pytest.mark.django_db

batch_once = once_a_module(make.running_batch)
JSON = "application/json"


def refused(batch: Batch, method: str, path: str, sent: object = "", **about: Any) -> Any:
    """The answer to an owner's request, whose status is another one than 2xx."""
    address = path.replace("STUDY", f"studies/{batch.study.slug}")
    content = sent if isinstance(sent, str) else json.dumps(sent)
    about = {"content_type": JSON, **about}
    client = token_client(make.member(batch.study, "owner"), **about.pop("token", {}))
    answer = client.generic(method, f"/api/{address}", content, **about)
    return answer.status_code, answer.json()


@pytest.mark.parametrize(
    ("path", "field", "sentence"),
    [
        ("STUDY/people/?stat=completed", "stat", "did you mean “state”?"),
        ("STUDY/people/?state=complete", "state", "did you mean “completed”?"),
        ("STUDY/people/?flag=past", "flag", "did you mean “paste”?"),
        ("STUDY/people/?batch=0", "batch", "known are "),
        ("STUDY/people/?sort=name", "sort", "did you mean “format”?"),
        ("STUDY/judgements/?with_exclude=1", "with_exclude", "did you mean “with_excluded”?"),
        ("STUDY/judgements/?simulated=perhaps", "simulated", "known are true, yes"),
        ("STUDY/judgements/?format=exe", "format", "known are jsonl, csv."),
        ("STUDY/progress/?batch=1", "batch", "none is known here."),
        ("STUDY/report/?part=all", "part", "known are "),
        ("STUDY/report/?part=methods&format=csv", "format", "known are "),
        ("studies/?state=open", "state", "known are page."),
        ("runs/?benchmrk=a", "benchmrk", "did you mean “benchmark”?"),
        ("runs/?state=finished", "state", "known are uploading, complete."),
    ],
)
def test_knows_no_other_parameters(batch_once: Batch, path: str, field: str, sentence: str) -> None:
    status, told = refused(batch_once, "GET", path)
    assert (status, [*told]) == (400, [field])
    assert sentence in told[field][0]


@pytest.mark.parametrize(
    ("path", "sent"),
    [
        ("STUDY/webhooks/", {"url": "https://example.org/", "secrt": "x"}),
        ("STUDY/bundle/", {"text": True}),
        ("runs/", {"nme": "x"}),
        *((f"STUDY/{act}/", {"partial": True}) for act in ("start", "pause", "rehearse")),
    ],
)
def test_knows_no_other_fields(batch_once: Batch, path: str, sent: dict[str, Any]) -> None:
    status, told = refused(batch_once, "POST", path, sent)
    assert (status, [*told]) == (400, [*sent][-1:])
    assert "There is no such field here" in told[[*sent][-1]][0]


@pytest.mark.parametrize("sent", ["", "{}"])
def test_takes_nothing_where_there_are_no_fields(batch_once: Batch, sent: str) -> None:
    address = f"/api/studies/{batch_once.study.slug}/pause/"
    client = token_client(make.member(batch_once.study, "owner"))
    assert client.generic("POST", address, sent, content_type=JSON).status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "status", "sentence"),
    [
        ("GET", "STUDY/payments/", 403, "This token does not open what concerns payments"),
        ("POST", "STUDY/pause/", 403, "This token may only read"),
    ],
)
def test_says_what_a_token_lacks(
    batch_once: Batch, method: str, path: str, status: int, sentence: str
) -> None:
    may = {"write": False, "pay": False}
    code, told = refused(batch_once, method, path, token=may)
    assert (code, told["detail"].startswith(sentence), "page Account" in told["detail"]) == (
        *(status, True, True),
    )


@pytest.mark.parametrize(
    ("method", "path", "sent", "told"),
    [
        ("POST", "STUDY/webhooks/", '{"url": ', "This is no JSON: look at line 1, column 9"),
        ("POST", "STUDY/webhooks/", '{"url": "a", "url": "b"}', "“url” stands there twice"),
        ("POST", "STUDY/webhooks/", "{}", "This is missing: send it too."),
        ("POST", "STUDY/webhooks/", '{"url": null}', "This is null: leave it out"),
        ("POST", "STUDY/webhooks/", '{"url": 3}', "This is a text."),
        ("POST", "STUDY/bundle/", '{"texts": "yes"}', "This is true or false."),
        ("POST", "benchmarks/", "{}", "send JSON, and where there is a file, a form"),
        ("GET", "studies/nothing/", "", "There is nothing here that you may know of"),
        ("GET", "studies/?page=9", "", "There is no such page"),
        ("DELETE", "studies/", "", "This address does not take that method"),
        ("POST", "STUDY/pause/", "[1]", "Send an object"),
        ("OPTIONS", "benchmarks/NAME/people/", "", "This address does not take that method"),
        ("POST", "STUDY/rehearse/", "", "has started: copy it, and rehearse the copy"),
    ],
)
def test_says_it_in_one_sentence(
    batch_once: Batch, method: str, path: str, sent: str, told: str
) -> None:
    _status, answer = refused(batch_once, method, path, sent)
    [said] = answer.values()
    assert told in (said if isinstance(said, str) else said[0])
    assert not isinstance(said, list) or len(said) == 1
