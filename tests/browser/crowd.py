"""Annotators without a browser, for when many are at work at once: each is an HTTP client with
cookies of its own, sends the forms that it is shown, and reads nothing but its pages."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import unescape
from time import sleep
from typing import Any
from urllib.parse import urljoin

import requests

FIELDS = re.compile(r'<input type="hidden" name="(csrfmiddlewaretoken|door|step)" value="([^"]*)"')
OPTION = re.compile(
    r'value="(\d+)"[^>]*><span class="option-text"[^>]*>'
    r'(?:<span class="option-words">)?(.*?)</span>'
)
CODE = re.compile(r'<code class="code"[^>]*>([^<]+)</code>')
TAG = re.compile(r"<[^>]*>")
# A busy database asks to be tried again; a page does so by itself.
BUSY, MOST_TRIES = 503, 10
PATIENCE_S = 300

Row = dict[str, Any]
Fields = Mapping[str, str]


@dataclass(frozen=True)
class TaskFiles:
    """A task as its files have it: what an annotator with the answers in hand would know."""

    name: str
    kind: str
    training: Sequence[Row]
    test: Sequence[Row]

    def right(self, row: Row) -> list[str]:
        texts = [entry["text"] if isinstance(entry, dict) else entry for entry in row["answer"]]
        return [text for text in texts if text]

    def wrong(self, row: Row) -> list[str]:
        """What earns nothing."""
        if self.kind in ("choice", "candidate"):
            return next([text] for text in self._options(row) if [text] != self.right(row))
        return row["context"].split()[:1]

    def partly_right(self, row: Row) -> list[str]:
        """One of several pieces; where there is only one, a wrong one."""
        right = self.right(row)
        return right[:1] if len(right) > 1 else self.wrong(row)

    def _options(self, row: Row) -> list[str]:
        if self.kind == "candidate":
            return [row["context"][e["start"] : e["end"] + 1] for e in row["entities"]]
        return sorted({text for other in self.test for text in self.right(other)})


@dataclass
class Annotator:
    """Somebody from the link to the code; `slips` are the test items that they get wrong."""

    link: str
    tasks: Sequence[TaskFiles]
    slips: frozenset[int]
    fails_practice: bool = False
    leaves_after: int | None = None
    cookies: dict[str, str] = field(default_factory=dict)
    # What they did, by their own account.
    task: TaskFiles | None = None
    practised: int = 0
    given: dict[int, list[str]] = field(default_factory=dict)
    code: str = ""

    def __post_init__(self) -> None:
        self.origin = "/".join(self.link.split("/")[:3])

    @property
    def is_at_work(self) -> bool:
        return "data-answer-form" in self.page

    @property
    def is_practising(self) -> bool:
        task, row = next(self._asked())
        return row in task.training

    def comes_in(self) -> "Annotator":
        """From the link to the first item, or to the code of a study that is full."""
        self._opens(self.link)
        self._sends("/work/consent/", agree="1")
        if 'action="/work/begin/"' in self.page:
            self._sends("/work/begin/")
        return self._reads_code()

    def works(self) -> "Annotator":
        """To the code, whichever that is."""
        for done in range(1000):
            if done == self.leaves_after:
                self._sends("/work/withdraw/", sure="1")
            if not self.is_at_work:
                break
            self._answers()
        return self._reads_code()

    def _answers(self) -> None:
        self.task, row = next(self._asked())
        is_test = row in self.task.test
        number = self.task.test.index(row) if is_test else -1
        given = self.task.right(row)
        if is_test and number in self.slips:
            given = self.task.partly_right(row)
        elif not is_test and self.fails_practice:
            given = self.task.wrong(row)
        self._sends("/work/submit/", **self._form(given))
        if is_test:
            self.given[number] = given
            return
        self.practised += 1
        assert "data-reveal-form" in self.page
        self._sends("/work/next/")
        if "practice-done" in self.page:
            self._sends("/work/begin/")

    def _asked(self) -> Iterator[tuple[TaskFiles, Row]]:
        text = unescape(TAG.sub("", self.page))
        for task in self.tasks:
            for row in [*task.training, *task.test]:
                if row["context"] in text:
                    yield task, row

    def _form(self, given: Sequence[str]) -> Fields:
        assert self.task is not None
        if self.task.kind in ("choice", "candidate"):
            numbers = {unescape(text): number for number, text in OPTION.findall(self.page)}
            return {"option": numbers[given[0]]}
        if not given:
            return {"none": "1"}
        if self.task.kind == "text":
            return {"text": given[0]}
        return {"spans": json.dumps(self._places(given))}

    def _places(self, given: Sequence[str]) -> list[list[int]]:
        assert self.task is not None
        _task, row = next(self._asked())
        starts = [(text, row["context"].index(text)) for text in given]
        return [[0, start, start + len(text)] for text, start in starts]

    # Pages

    def _opens(self, address: str) -> None:
        self._keeps("GET", address)

    def _sends(self, path: str, **fields: str) -> None:
        sent = {**dict(FIELDS.findall(self.page)), **fields}
        # As the page's own script sends a form once somebody is at work.
        is_fragment = self.is_at_work and path != "/work/withdraw/"
        self._keeps("POST", self.origin + path, sent, is_fragment=is_fragment)

    def _keeps(
        self, method: str, address: str, sent: Fields | None = None, *, is_fragment: bool = False
    ) -> None:
        """The page that comes, if need be at the second time of asking."""
        for tried in range(MOST_TRIES):
            try:
                answer = self._asks(method, address, sent, is_fragment=is_fragment)
            except requests.ConnectionError:
                # The tests' server keeps only ten waiting, and turns the others away.
                if tried == MOST_TRIES - 1:
                    raise
                sleep(1)
                continue
            if answer.status_code != BUSY:
                break
            sleep(int(answer.headers["Retry-After"]))
        assert answer.status_code < 500, (answer.status_code, answer.url)
        self.page: str = answer.text

    def _asks(
        self, method: str, address: str, sent: Fields | None, *, is_fragment: bool
    ) -> requests.Response:
        """By hand, since a browser trusts localhost with secure cookies and sends their values back
        as they came."""
        headers = {"Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())}
        answer = requests.request(
            method,
            address,
            data=sent,
            headers=headers | ({"HX-Request": "true"} if is_fragment else {}),
            allow_redirects=False,
            timeout=PATIENCE_S,
        )
        for line in answer.raw.headers.getlist("Set-Cookie"):
            name, _, rest = line.partition("=")
            self.cookies[name] = rest.partition(";")[0]
        if not answer.is_redirect:
            return answer
        onward = urljoin(address, answer.headers["Location"])
        return self._asks("GET", onward, None, is_fragment=False)

    def _reads_code(self) -> "Annotator":
        found = CODE.search(self.page)
        self.code = found[1] if found else ""
        return self
