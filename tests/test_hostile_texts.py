"""Names and texts that somebody wrote to do harm, through every page and every export.

A study is made in which whoever could name something did: the study, its task, labels, texts,
systems and their fields, people's ids and comments. Its owner follows every link.
"""

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urljoin, urlsplit
from xml.etree import ElementTree
from zipfile import ZipFile

import pytest
from django.test import Client
from django.urls import Resolver404, resolve, reverse
from markdown_it import MarkdownIt
from openpyxl import load_workbook

from annotation.models import Assignment, Batch, Comment, Kind, Study
from annotation.studies.lifecycle import start_study
from scoring.models import Leaderboard
from tests import make
from tests.every import every
from tests.scoring.comparison import measured

pytestmark = pytest.mark.django_db

# By this the test knows it again, whatever was done to the rest.
MARK = "zqhostile"
FORMULA = f"=HYPERLINK(1)&{MARK}"
NAME = (
    f"{FORMULA}\n\n# \x07\u202e\u2066<img src=x onerror=a()>"
    r"\input{x} }{ $\frac$ % <script>"
    r"alert(1)</script> & _ ^ ~ \write18{y} [l](javascript:alert(3)) ![i](http://e/x) | `c`"
    '" onmouseover="alert(4)" {0} {name} %s %(name)s <!-- &lt;b&gt;'
)
LABEL = NAME[:80]
# More pages of one kind show nothing new, nor do two pictures.
MOST_OF_A_KIND, MOST_PICTURES = 2, 1
LEAVES = re.compile(r"/(logout|jsi18n|docs|static|i18n|api)/")


def named(most: int) -> str:
    return NAME[:most]


@pytest.fixture
def study() -> Study:
    """Played, compared and shown, with hostile words wherever there is room for them."""
    benchmark = make.benchmark("hostile")
    benchmark.source = NAME
    benchmark.save()
    task = make.task(benchmark, kind=Kind.CHOICE, training=2, tests=4)
    task.title, task.name, task.description = named(200), named(80), NAME
    task.save()
    for item_set in task.item_sets.all():
        item_set.choices = [*item_set.choices, LABEL]
        item_set.save()
    made = make.study(benchmark, title=named(200), consent_text=NAME, contact=named(200))
    batch = make.batch(made, task, wanted=9)
    start_study(made, at=make.NOON)
    batch.refresh_from_db()
    people = [make.annotator(external_id=f"{FORMULA}{number}") for number in range(3)]
    for number, person in enumerate(people):
        assignment = make.worked_through(batch, wrong=number, who=person)
        _comment(assignment, batch)
    for split in (1, 2):
        measured.run(task, system=named(200), split=split, parameters=named(30), citation=NAME)
    measured.reported(benchmark, task.slug, system=named(200), source=named(300))
    Leaderboard.objects.get_or_create(benchmark=benchmark, defaults={"is_public": True})
    return made


def _comment(assignment: Assignment, batch: Batch) -> None:
    item = batch.test_set.items.first()
    Comment.objects.create(
        assignment=assignment, example=item.example, text=NAME, written_at=make.NOON
    )


@dataclass
class Crawl:
    """Every page that links lead to, at most so many of a kind."""

    client: Client
    visited: Counter[str] = field(default_factory=Counter)
    seen: set[str] = field(default_factory=set)

    def from_(self, start: str) -> Iterator[tuple[str, Any, bytes]]:
        waiting = [start]
        while waiting:
            address = waiting.pop(0)
            response: Any = self.client.get(address)
            streamed = getattr(response, "streaming", False)
            content = b"".join(response.streaming_content) if streamed else response.content
            yield address, response, content
            if response.get("Content-Type", "").startswith("text/html"):
                waiting += self._links(address, content.decode())

    def _links(self, address: str, page: str) -> Iterator[str]:
        reader = Elements(page)
        for link in reader.links:
            target = urlsplit(urljoin(address, link))
            path = f"{target.path}?{target.query}" if target.query else target.path
            if target.netloc or LEAVES.search(target.path) or path in self.seen:
                continue
            kind = self._kind(target.path)
            most = MOST_PICTURES if "figure" in kind else MOST_OF_A_KIND
            if kind and self.visited[kind] < most:
                self.visited[kind] += 1
                self.seen.add(path)
                yield path

    @staticmethod
    def _kind(path: str) -> str:
        try:
            match = resolve(path)
        except Resolver404:
            return ""
        words = [str(v) for n, v in match.kwargs.items() if n in KINDS_OF_EXPORT]
        return " ".join([match.view_name, *words])


KINDS_OF_EXPORT = ("form", "part", "file_format", "figure", "table", "name")


class Elements(HTMLParser):
    """What a browser makes of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))

    def handle_data(self, data: str) -> None:
        self.text += data

    @property
    def links(self) -> list[str]:
        return [attrs["href"] for tag, attrs in self.tags if tag == "a" and "href" in attrs]


def check_html(content: bytes) -> None:
    for tag, attributes in Elements(content.decode()).tags:
        assert tag != "script" or "src" in attributes or "json" in attributes.get("type", "")
        assert not any(name.startswith("on") for name in attributes), attributes
        for name in ("href", "src", "action"):
            value = attributes.get(name, "").strip().lower()
            assert not value.startswith(("javascript:", "data:text")), attributes
        # A description may link elsewhere; nothing is loaded from there.
        assert not attributes.get("src", "").startswith(("http", "x")), attributes


def check_markdown(content: bytes) -> None:
    """As sites show it that let HTML through."""
    html = MarkdownIt("commonmark", {"html": True}).enable("table").render(content.decode())
    check_html(html.encode())
    assert "<!--" not in html
    assert "<h1># " not in html
    assert not any(sign in content.decode() for sign in "\x07\u202e\u2066")


def check_latex(content: bytes) -> None:
    text = content.decode()
    assert not any(sign in text for sign in "\x07\u202e\u2066")
    # What is escaped is no longer a command.
    bare = re.sub(r"\\[\\{}%&$#_^]", "", text)
    commands = set(re.findall(r"\\([A-Za-z]+)", bare))
    assert not commands & {"input", "write", "frac"}, commands
    assert bare.count("{") == bare.count("}")
    assert MARK not in text or r"\textbackslash{}input" in text
    for line in text.splitlines():
        assert not line.startswith("%") or MARK not in line or r"\input" not in line


def check_csv(content: bytes) -> None:
    rows = list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline="")))
    assert rows
    for cell in (cell for row in rows for cell in row):
        is_number = re.fullmatch(r"-?[\d.]+(e-?\d+)?", cell)
        assert is_number or not cell.startswith(("=", "@", "+", "-", "\t", "\r")), cell


def check_xlsx(content: bytes) -> None:
    book = load_workbook(io.BytesIO(content))
    kinds = {cell.data_type for sheet in book for row in sheet.iter_rows() for cell in row}
    assert "f" not in kinds


def check_zip(content: bytes) -> None:
    with ZipFile(io.BytesIO(content)) as archive:
        for name in archive.namelist():
            assert not re.search(r'[<>:"\\|?*\x00-\x1f\u202a-\u202e\u2066-\u2069]', name), name
            assert not {"", ".", ".."} & set(name.split("/")), name
            ending = name.rpartition(".")[2]
            if ending in ENDINGS:
                ENDINGS[ending](archive.read(name))


def check_svg(content: bytes) -> None:
    for element in ElementTree.fromstring(content).iter():
        assert element.tag.rpartition("}")[2] not in ("script", "img", "a"), element.tag
        assert not any(name.startswith("on") for name in element.attrib), element.attrib


Check = Callable[[bytes], None]
ENDINGS: dict[str, Check] = {"md": check_markdown, "csv": check_csv, "json": json.loads}
CHECKS: dict[str, Check] = {
    "text/html": check_html,
    "text/markdown": check_markdown,
    "application/x-tex": check_latex,
    "text/csv": check_csv,
    "application/json": json.loads,
    "application/zip": check_zip,
    "image/svg+xml": check_svg,
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": check_xlsx,
}
# Pages and files that show some of the names.
SHOWN_ON = {
    "annotation:home",
    "annotation:people",
    "annotation:person",
    "annotation:payments",
    "annotation:watch",
    "scoring:comparison",
    "scoring:items",
    "scoring:item",
    "scoring:leaderboard",
    "scoring:report",
}


def test_harm_nobody_who_follows_every_link(study: Study, client: Client) -> None:
    owner = make.member(study)
    study.benchmark.memberships.create(user=owner, role="owner")
    client.force_login(owner)
    crawl, shown = Crawl(client), set()
    types: Counter[str] = Counter()
    for address, response, content in crawl.from_("/"):
        where = f"{address} {response.status_code}"
        assert response.status_code < 500, where
        assert response.status_code in (200, 302, 403, 404, 405, 409), where
        kind = response.get("Content-Type", "").partition(";")[0]
        types[kind] += 1
        if check := CHECKS.get(kind):
            try:
                check(content)
            except Exception as error:
                raise AssertionError(f"{where}: {error!r}") from error
        if MARK in content.decode(errors="replace") and kind == "text/html":
            shown.add(resolve(urlsplit(address).path).view_name)
    assert shown >= SHOWN_ON, SHOWN_ON - shown
    assert types.keys() >= CHECKS.keys()


def test_harm_no_annotator(study: Study) -> None:
    """Consent, instructions, question and reveal."""
    client = Client()
    link = reverse("annotation:join_batch", args=[study.batches.get().join_token])
    pages = [
        client.get(link, follow=True),
        client.post("/work/consent/", {"agree": "1"}, follow=True),
        client.post("/work/begin/", follow=True),
        client.post("/work/submit/", {"step": 0, "option": "0"}, follow=True),
    ]
    for page in pages:
        assert page.status_code == 200
        check_html(page.content)
    texts = [Elements(page.content.decode()).text for page in pages]
    assert every(MARK in text for text in texts)
    assert "<img src=x" in texts[0], "the consent is shown as it was written"
    assert "<img src=x" in texts[2], "and so is the description"
