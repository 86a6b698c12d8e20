import json
import logging
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from queue import Queue
from threading import Thread

import pytest
from django.core import signing
from django.test import Client

from config.logs import MOST_WAITING, DiscreetFormatter, DiscreetJsonFormatter, ErrorHook
from tests import make
from tests.every import every


def written(message: str, error: Exception | None = None) -> str:
    raised = (type(error), error, None) if error else None
    record = logging.LogRecord("name", logging.ERROR, "", 0, message, None, raised)
    return DiscreetFormatter("%(levelname)s %(message)s").format(record)


def test_writes_a_message_as_it_is() -> None:
    assert written("Imported 3 tasks.") == "ERROR Imported 3 tasks."


def test_leaves_out_the_values_of_a_refused_row() -> None:
    refused = ValueError(
        'duplicate key value violates unique constraint "one_person"\n'
        "DETAIL:  Key (channel_id, external_id)=(1, 5f3a) already exists."
    )
    line = written("Internal Server Error", refused)
    assert "one_person" in line
    assert "5f3a" not in line


TOKEN = "q3-T_0kenOfALink9wXyz0"
SECRETS = {
    "join": f"Internal Server Error: /join/{TOKEN}/",
    "join a batch": f"Internal Server Error: /join/batch/{TOKEN}/",
    "join a pool": f"Forbidden: https://example.org/join/pool/{TOKEN}/?id=5f3a",
    "invited": f"failed at /invited/{TOKEN}/",
    "resume": f"<WSGIRequest: GET '/resume/{TOKEN}/'>",
    "colleague": f"Internal Server Error: /colleagues/{TOKEN}/",
    "webhook": f"POST /prolific/{TOKEN}/ failed",
    "ids": f"GET /join/x/?PROLIFIC_PID={TOKEN}&SESSION_ID={TOKEN}",
    "ids of another page": f'"/research/people/?q={TOKEN}"',
    "token of the API": f"{{'Authorization': 'Token {TOKEN}'}}",
    "bearer": f"Authorization: Bearer {TOKEN}",
    "form": f"csrfmiddlewaretoken={TOKEN}",
}


@pytest.mark.parametrize("message", SECRETS.values(), ids=list(SECRETS))
def test_writes_no_token_and_no_id_of_an_address(message: str) -> None:
    assert TOKEN not in written(message)
    assert TOKEN not in written("failed", ValueError(message))
    record = logging.LogRecord("name", logging.ERROR, "", 0, "%s", (message,), None)
    record.request = message
    assert TOKEN not in str(as_json(record))


def test_writes_nothing_that_was_signed() -> None:
    door = signing.dumps({"token": TOKEN, "external_id": "5f3a"}, salt="door", compress=True)
    assert written(f"failed with {door} at 12:30:05") == "ERROR failed with (left out) at 12:30:05"
    cookie = signing.get_cookie_signer(salt="annotator").sign('{"assignment":12}')
    assert cookie.rpartition(":")[2] not in written(f"Set-Cookie: annotator={cookie}; Path=/")


def test_leaves_other_addresses_as_they_are() -> None:
    for line in (
        "Internal Server Error: /research/studies/mine/watch/",
        "/join/batch/ is no address. Why? Look at /admin/.",
        'File "/app/annotation/work/joining.py", line 12, in join',
        "The cache does not answer: redis://127.0.0.1:6379/0",
    ):
        assert written(line) == f"ERROR {line}"


@pytest.mark.django_db
@pytest.mark.parametrize("is_json", [False, True], ids=["text", "json"])
def test_tells_no_token_of_a_page_that_failed(
    client: Client, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, is_json: bool
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("broken")

    batch = make.running_batch(via="prolific")
    monkeypatch.setattr("annotation.work.joining.open_batches", fail)
    client.raise_request_exception = False
    pid = make.prolific_id(1)
    response = client.get(f"/join/batch/{batch.join_token}/", {"PROLIFIC_PID": pid})
    assert response.status_code == 500
    [record] = [record for record in caplog.records if record.levelno == logging.ERROR]
    # The request stands in the record, as Django logs it.
    line = str(as_json(record)) if is_json else DiscreetFormatter().format(record)
    assert "broken" in line
    assert batch.join_token not in line
    assert pid not in line


# As JSON


def as_json(record: logging.LogRecord) -> dict[str, object]:
    return dict(json.loads(DiscreetJsonFormatter("%(levelname)s %(message)s").format(record)))


def test_leaves_the_values_of_a_refused_row_out_of_json() -> None:
    told = "one_person\nDETAIL:  Key (external_id)=(5f3a) already exists."
    try:
        raise ValueError(told)
    except ValueError as refused:
        raised = (type(refused), refused, refused.__traceback__)
        record = logging.LogRecord("name", logging.ERROR, "", 0, "failed", None, raised)
    written = as_json(record)
    assert written["message"] == "failed"
    assert "one_person" in str(written["exc_info"])
    assert "5f3a" not in str(written)


@pytest.mark.django_db
def test_logs_a_request_by_the_name_of_its_address_and_its_id(
    client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "config.requests")
    batch = make.running_batch()
    asked = "c0ffee00c0ffee00c0ffee00c0ffee00"
    response = client.get(f"/join/batch/{batch.join_token}/", headers={"X-Request-ID": asked})
    assert response["X-Request-ID"] == asked
    [line] = [as_json(record) for record in caplog.records if record.name == "config.requests"]
    assert (line["method"], line["status"]) == ("GET", response.status_code)
    assert str(line["address"]).startswith("annotation:join")
    assert batch.join_token not in str(line)


@pytest.mark.django_db
def test_takes_no_request_id_that_is_none(client: Client) -> None:
    response = client.get("/", headers={"X-Request-ID": "<script>5f3a</script>"})
    assert len(response["X-Request-ID"]) == 32


# The error hook


@pytest.fixture
def received() -> Iterator[tuple[str, "Queue[dict[str, object]]"]]:
    """The address of somebody who is told of errors, and what was told."""
    told: Queue[dict[str, object]] = Queue()

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            told.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Receiver) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/", told
        server.shutdown()


def test_tells_where_an_error_was_and_not_what_it_said(
    received: tuple[str, "Queue[dict[str, object]]"],
) -> None:
    url, told = received
    hook = ErrorHook(url)
    logger = logging.Logger("annotation.work")
    logger.addHandler(hook)
    try:
        raise RuntimeError("person 5f3a")
    except RuntimeError:
        logger.exception("person %s failed", "5f3a")
    logger.warning("no error")
    hook.close()
    line = told.get_nowait()
    assert told.empty()
    assert (line["error"], line["logger"]) == ("RuntimeError", "annotation.work")
    assert str(line["file"]).endswith("test_logs.py")
    assert "5f3a" not in str(line)


def test_is_held_up_by_no_hook_that_is_away() -> None:
    hook = ErrorHook("http://127.0.0.1:1/")
    logger = logging.Logger("annotation.work")
    logger.addHandler(hook)
    for _ in range(500):
        logger.error("failed")
    hook.close()
    # Every place was given back: a hook that came again would be told of the next error.
    assert every(hook._waiting.acquire(blocking=False) for _ in range(MOST_WAITING))
