"""A local stand-in for Prolific's API: its addresses, field names and habits, on one thread."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

TOKEN = "secret-token"


class StandIn:
    def __init__(self) -> None:
        self.studies: list[dict[str, Any]] = []
        # Of a study, beside what it was made with; amounts in cents.
        self.says: dict[str, Any] = {"presentment_currency_code": "USD"}
        self.submissions: list[dict[str, Any]] = []
        self.groups: dict[str, list[str]] = {}
        self.bonuses: dict[str, str] = {}
        # Each call of "pay" pays again, as Prolific's does.
        self.paid: list[tuple[str, Decimal]] = []
        # Submissions that were approved or screened out, each of which Prolific pays.
        self.moved: list[str] = []
        self.subscriptions: dict[str, dict[str, Any]] = {}
        self.asked: list[str] = []
        # Of the calls whose path matches: done, but the answer is lost; or declined.
        self.loses = ""
        self.declines = ""
        self._lock = Lock()

    def answer(self, method: str, path: str, query: Any, body: Any) -> tuple[int, Any]:
        with self._lock:
            self.asked.append(f"{method} {path}")
            if self.declines and re.search(self.declines, path):
                return 400, {"error": {"status": 400, "title": "Bad", "detail": "Not like this."}}
            for pattern, act in ROUTES.items():
                found = re.fullmatch(pattern, f"{method} {path}")
                if found:
                    return act(self, body, query, *found.groups())
        return 404, {"error": {"status": 404, "detail": "Not found."}}

    def _study(self, body: Any, query: Any) -> tuple[int, Any]:
        needed = {
            *("name", "description", "external_study_url", "prolific_id_option"),
            *("completion_codes", "estimated_completion_time", "reward"),
            *("total_available_places",),
        }
        if not needed <= set(body):
            return 400, {"error": {"detail": f"Missing: {needed - set(body)}"}}
        self.studies.append(body)
        return 201, {**body, "id": f"study-{len(self.studies)}", **self.says}

    def _one(self, body: Any, query: Any, pk: str) -> tuple[int, Any]:
        return 200, {"reward": 200, "completion_codes": [], "id": pk, **self.says}

    def _list(self, body: Any, query: Any) -> tuple[int, Any]:
        size, page = int(query["page_size"][0]), int(query["page"][0])
        found = self.submissions[(page - 1) * size : page * size]
        return 200, {"results": found, "meta": {"count": len(self.submissions)}}

    def _transition(self, body: Any, query: Any, pk: str) -> tuple[int, Any]:
        [submission] = [s for s in self.submissions if s["id"] == pk]
        if submission["status"] != "AWAITING REVIEW":
            return 400, {"error": {"detail": "It is reviewed already."}}
        self.moved.append(pk)
        submission["status"] = {"APPROVE": "APPROVED", "COMPLETE": "SCREENED OUT"}[body["action"]]
        submission["entered_code"] = body.get("completion_code")
        return 200, submission

    def _set_up(self, body: Any, query: Any) -> tuple[int, Any]:
        pk = f"bonuses-{len(self.bonuses) + 1}"
        self.bonuses[pk] = body["csv_bonuses"]
        return 201, {"id": pk, "study": body["study_id"], "total_amount": 0}

    def _pay(self, body: Any, query: Any, pk: str) -> tuple[int, Any]:
        for line in self.bonuses[pk].splitlines():
            who, amount = line.split(",")
            self.paid.append((who, Decimal(amount)))
        return 202, f"Bulk bonus payment with ID {pk} is being processed asynchronously."

    def _group(self, body: Any, query: Any) -> tuple[int, Any]:
        pk = f"group-{len(self.groups) + 1}"
        self.groups[pk] = list(body["participant_ids"])
        return 201, {"id": pk, "name": body["name"], "workspace_id": body["workspace_id"]}

    def _add(self, body: Any, query: Any, pk: str) -> tuple[int, Any]:
        new = [who for who in body["participant_ids"] if who not in self.groups[pk]]
        self.groups[pk] += new
        return 200, {"results": [{"participant_id": who} for who in self.groups[pk]]}

    def _secret(self, body: Any, query: Any) -> tuple[int, Any]:
        return 201, {"id": "s", "value": "hook-secret", "workspace_id": body["workspace_id"]}

    def _subscribe(self, body: Any, query: Any) -> tuple[int, Any]:
        pk = f"subscription-{len(self.subscriptions) + 1}"
        self.subscriptions[pk] = {**body, "is_enabled": False}
        return 201, {"id": pk, **body}

    def _confirm(self, body: Any, query: Any, pk: str) -> tuple[int, Any]:
        if body != {"secret": "confirm-me"}:
            return 400, {"error": {"detail": "Wrong secret."}}
        self.subscriptions[pk]["is_enabled"] = True
        return 200, {"id": pk}


ROUTES: dict[str, Callable[..., tuple[int, Any]]] = {
    r"POST /studies/": StandIn._study,
    r"GET /studies/([\w-]+)/": StandIn._one,
    r"GET /submissions/": StandIn._list,
    r"POST /submissions/([\w-]+)/transition/": StandIn._transition,
    r"POST /submissions/bonus-payments/": StandIn._set_up,
    r"POST /bulk-bonus-payments/([\w-]+)/pay/": StandIn._pay,
    r"POST /participant-groups/": StandIn._group,
    r"POST /participant-groups/([\w-]+)/participants/": StandIn._add,
    r"POST /hooks/secrets/": StandIn._secret,
    r"POST /hooks/subscriptions/": StandIn._subscribe,
    r"POST /hooks/subscriptions/([\w-]+)/": StandIn._confirm,
}


@contextmanager
def served() -> Iterator[tuple[StandIn, str]]:
    prolific = StandIn()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._do("GET")

        def do_POST(self) -> None:
            self._do("POST")

        def _do(self, method: str) -> None:
            address = urlsplit(self.path)
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length) or "{}")
            if self.headers["Authorization"] != f"Token {TOKEN}":
                status, answer = 401, {"error": {"detail": "Unknown token."}}
            else:
                status, answer = prolific.answer(
                    method, address.path, parse_qs(address.query), body
                )
            if prolific.loses and re.search(prolific.loses, address.path):
                self.close_connection = True
                return
            content = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.send_header("X-Hook-Secret", "confirm-me")
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield prolific, f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
