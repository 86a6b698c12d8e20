"""What a study tells its webhooks: of what happened alone, signed, again until it is taken, and to
no address within the installation's network."""

import hashlib
import hmac
import json
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar
from unittest import mock

import pytest
import urllib3
from django.db import transaction
from django.test import Client
from django.urls import reverse

from annotation.models import Batch, HookCall, Webhook, WorkSummary, clock
from annotation.models.errors import BadInput, Refusal
from annotation.people.rows import rows
from annotation.people.summaries import refresh
from annotation.studies.lifecycle import close_study
from annotation.webhooks.addresses import MOST, add_webhook, look_up, parts_of
from annotation.webhooks.sending import MOST_TRIES, forget_old, post, send_due, signature
from annotation.work.finishing import withdraw
from annotation.work.places import open_places, release_place
from scoring.cells.scope import Scope
from scoring.comparison.comparing import compare
from tests import make
from tests.annotation.api.token_client import token_client
from tests.scoring.comparison import measured

pytestmark = pytest.mark.django_db

URL = "https://example.org/hook?of=us"


@pytest.fixture(autouse=True)
def known_names() -> Iterator[None]:
    """No test asks the network what a name leads to."""
    with led_to("93.184.216.34"):
        yield


def told(batch: Batch) -> list[tuple[str, dict[str, Any]]]:
    """By event what else it says, the first first."""
    calls = HookCall.objects.filter(webhook__study=batch.study).order_by("pk")
    known = ("event", "study", "at")
    return [(one.event, {k: v for k, v in one.body.items() if k not in known}) for one in calls]


def hooked(batch: Batch) -> Webhook:
    return Webhook.objects.create(study=batch.study, url=URL, secret="s3cret")


@pytest.fixture
def called() -> Iterator[mock.Mock]:
    with mock.patch("annotation.webhooks.sending.post", return_value=204) as called:
        yield called


@pytest.mark.both_databases
def test_tells_what_happened_and_who_by_pseudonym() -> None:
    batch = make.running_batch(wanted=1, min_training_score=None)
    hooked(batch)
    gone = make.at_work(batch)
    withdraw(gone, at=make.NOON)
    away = make.at_work(batch)
    release_place(away, at=make.NOON)
    done = make.worked_through(batch)
    close_study(batch.study, at=make.NOON)
    names = [one.annotator.pseudonym for one in (gone, away, done)]
    assert told(batch)[:6] == [
        ("person.finished", {"person": names[0], "outcome": "withdrawn"}),
        ("place.given_back", {"person": names[0]}),
        ("place.given_back", {"person": names[1]}),
        ("person.finished", {"person": names[2], "outcome": "completed"}),
        ("study.full", {}),
        ("study.closed", {}),
    ]


def test_tells_nothing_that_was_rolled_back_nor_what_programs_do() -> None:
    batch = make.running_batch()
    hooked(batch)
    assignment = make.at_work(batch)
    with transaction.atomic():
        withdraw(assignment, at=make.NOON)
        transaction.set_rollback(True)
    assert told(batch) == []
    open_places(batch, simulated=True)
    withdraw(make.at_work(batch, who=make.annotator("simulated")), at=make.NOON)
    assert told(batch) == []


def test_tells_who_needs_a_look_once() -> None:
    batch = measured.cell([0])
    hooked(batch)
    refresh(batch.study)
    WorkSummary.objects.update(is_flagged=False)
    with mock.patch("annotation.people.rows.Row.needs_a_look", True):
        rows(batch.study)
        rows(batch.study)
    assert told(batch) == [
        ("person.flagged", {"person": batch.assignments.get().annotator.pseudonym, "flags": []})
    ]


def test_tells_when_the_verdicts_are_frozen() -> None:
    batch = measured.cell([0, 1])
    close_study(batch.study, at=make.NOON)
    hooked(batch)
    compare(Scope(batch.study.benchmark, batch.study))
    assert told(batch) == [("verdicts.frozen", {"version": 1})]


def one_call() -> HookCall:
    batch = make.running_batch()
    hooked(batch)
    withdraw(make.joined(batch), at=make.NOON)
    HookCall.objects.exclude(event="person.finished").delete()
    return HookCall.objects.get()


def test_tells_again_with_growing_pauses_until_it_is_taken(called: mock.Mock) -> None:
    call, at = one_call(), make.NOON
    called.side_effect = [500, Refusal("No answer (X)."), 204]
    for minutes, answer in ((1, "500"), (2, "No answer (X).")):
        with mock.patch("annotation.models.clock.now", return_value=at):
            send_due(at=at)
            send_due(at=at)
        call.refresh_from_db()
        assert (call.next_at, call.answer) == (at + timedelta(minutes=minutes), answer)
        at = call.next_at
    send_due(at=at)
    call.refresh_from_db()
    assert (call.next_at, call.answer, call.tries) == (None, "204", 3)
    url, secret, body = called.call_args.args
    assert (url, secret, body["id"], body["event"]) == (URL, "s3cret", call.pk, "person.finished")


def test_gives_up_in_the_end_and_forgets_what_is_long_over(called: mock.Mock) -> None:
    call = one_call()
    HookCall.objects.update(tries=MOST_TRIES - 1)
    called.return_value = 302  # a redirect is no answer
    send_due(at=make.NOON)
    call.refresh_from_db()
    assert (call.next_at, call.answer) == (None, "302")
    forget_old(at=call.made_at + timedelta(days=29))
    assert HookCall.objects.exists()
    forget_old(at=call.made_at + timedelta(days=31))
    assert not HookCall.objects.exists()


def led_to(*numbers: str) -> Any:
    found = [(0, 0, 0, "", (number, 443)) for number in numbers]
    return mock.patch.object(socket, "getaddrinfo", return_value=found)


INWARD = ["127.0.0.1", "10.1.2.3", "169.254.169.254", "::1", "::ffff:10.0.0.1", "fe80::1%eth0",
          "2002:7f00:1::", "224.0.0.1", "0.0.0.0", "100.64.0.1"]  # fmt: skip


@pytest.mark.parametrize("number", INWARD)
def test_leads_to_no_address_that_is_not_public(number: str, settings: Any) -> None:
    with led_to("93.184.216.34", number):
        with pytest.raises(Refusal, match="not public"):
            look_up(parts_of(URL))
        settings.PRIVATE_WEBHOOKS = True
        assert look_up(parts_of(URL)) == "93.184.216.34"


def test_connects_to_the_number_that_was_looked_at_and_signs() -> None:
    answer = mock.Mock(status=204)
    with led_to("93.184.216.34"), mock.patch.object(urllib3, "HTTPSConnectionPool") as pool:
        pool.return_value.request.return_value = answer
        assert post(URL, "s3cret", {"event": "study.full"}, at=make.NOON) == 204
    assert pool.call_args.args == ("93.184.216.34", 443)
    assert pool.call_args.kwargs["assert_hostname"] == "example.org"
    request = pool.return_value.request.call_args
    assert request.args == ("POST", "/hook?of=us")
    headers, body = request.kwargs["headers"], request.kwargs["body"]
    signed = headers["Baseliner-Time"].encode() + b"." + body
    right = hmac.new(b"s3cret", signed, hashlib.sha256).hexdigest()
    assert (headers["Host"], headers["Baseliner-Signature"]) == ("example.org", right)
    assert request.kwargs["redirect"] is False


# For localhost, made by `openssl req -x509` for these tests; nothing else trusts it.
CERTIFICATE = Path(__file__).with_name("localhost.pem")


GET_ADDRESS = socket.getaddrinfo


def leading_here(_name: str, *rest: Any, **more: Any) -> Any:
    return GET_ADDRESS("127.0.0.1", *rest, **more)


class Receiver(BaseHTTPRequestHandler):
    taken: ClassVar[list[tuple[str, dict[str, str], bytes]]] = []

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.taken.append((self.path, dict(self.headers), body))
        self.send_response(202)
        self.end_headers()

    def log_message(self, *_args: object) -> None:
        pass


@contextmanager
def receiver() -> Iterator[str]:
    """The address of one on this machine, which takes what it is told."""
    Receiver.taken.clear()
    server = HTTPServer(("127.0.0.1", 0), Receiver)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"https://localhost:{server.server_port}/hook?of=us"
    finally:
        server.shutdown()
        server.server_close()


def test_tells_a_receiver_inside_where_the_operator_allows_it(settings: Any) -> None:
    batch = make.running_batch(wanted=1)
    editor = make.member(batch.study, "editor")
    trusted = mock.patch("annotation.webhooks.sending.DEFAULT_CA_BUNDLE_PATH", str(CERTIFICATE))
    with receiver() as url, mock.patch.object(socket, "getaddrinfo", leading_here), trusted:
        with pytest.raises(BadInput, match="localhost leads to an address that is not public"):
            add_webhook(batch.study, url, by=editor)
        settings.PRIVATE_WEBHOOKS = True
        hook = add_webhook(batch.study, url, by=editor)
        withdraw(make.at_work(batch), at=make.NOON)
        send_due(at=clock.now())
    assert {call.answer for call in HookCall.objects.all()} == {"202"}
    path, headers, body = Receiver.taken[0]
    assert (path, headers["Host"]) == ("/hook?of=us", url.removeprefix("https://").split("/")[0])
    assert headers["Baseliner-Signature"] == signature(hook.secret, headers["Baseliner-Time"], body)


def test_says_that_nothing_answers() -> None:
    lost = urllib3.exceptions.ConnectTimeoutError()
    with led_to("93.184.216.34"), mock.patch.object(urllib3, "HTTPSConnectionPool") as pool:
        pool.return_value.request.side_effect = lost
        with pytest.raises(Refusal, match="No answer"):
            post(URL, "s3cret", {}, at=make.NOON)


@pytest.mark.parametrize(
    "url", ["http://example.org/", "https://", "https://a:b@example.org/", "https://x:99999/", "ü"]
)
def test_takes_addresses_by_https_alone(url: str) -> None:
    batch = make.running_batch()
    with pytest.raises(BadInput, match="Give an address by https, such as"):
        add_webhook(batch.study, url, by=make.member(batch.study))


def test_is_made_shown_and_removed_on_a_page(client: Client) -> None:
    batch = make.running_batch()
    client.force_login(make.member(batch.study, "editor"))
    page = reverse("annotation:webhooks", args=[batch.study.slug])
    assert client.post(page, {"url": "http://x"}).status_code == 422
    shown = client.post(page, {"url": URL})
    hook = batch.study.webhooks.get()
    assert hook.secret in shown.content.decode()
    assert "told already" in client.post(page, {"url": URL}).content.decode()
    withdraw(make.joined(batch), at=make.NOON)
    again = client.get(page).content.decode()
    assert hook.secret not in again
    assert "somebody's work ended" in again.replace("&#x27;", "'")
    client.post(page, {"remove": hook.pk})
    assert not Webhook.objects.exists()
    changes = batch.study.changes.filter(action="settings")
    assert [(one.before, one.after) for one in changes] == [
        ({"webhook": "example.org"}, {}), ({}, {"webhook": "example.org"})
    ]  # fmt: skip


def test_is_made_listed_and_removed_over_the_api() -> None:
    batch = make.running_batch()
    client = token_client(make.member(batch.study, "editor"))
    page = f"/api/studies/{batch.study.slug}/webhooks/"
    refused = client.post(page, {"url": "ftp://x"}, format="json")
    assert (refused.status_code, [*refused.json()]) == (400, ["url"])
    made = client.post(page, {"url": URL}, format="json")
    assert (made.status_code, made.json()["url"]) == (201, URL)
    assert made.json()["secret"] == Webhook.objects.get().secret
    withdraw(make.joined(batch), at=make.NOON)
    [listed] = client.get(page).json()
    assert "secret" not in listed
    assert [one["event"] for one in listed["calls"]] == ["place.given_back", "person.finished"]
    assert client.delete(f"{page}{10**30}/").status_code == 404
    assert client.delete(f"{page}{listed['id']}/").status_code == 204
    assert json.loads(client.get(page).content) == []


def test_has_a_few_alone() -> None:
    batch = make.running_batch()
    editor = make.member(batch.study, "editor")
    for number in range(MOST):
        add_webhook(batch.study, f"{URL}{number}", by=editor)
    with pytest.raises(BadInput, match="remove one first"):
        add_webhook(batch.study, URL, by=editor)
