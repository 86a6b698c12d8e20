"""A browser that translates pages leaves the item, the answers and the gold as they were given."""

from html.parser import HTMLParser

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Assignment, Gold, Kind
from annotation.work.judging import current_example
from tests import make

pytestmark = pytest.mark.django_db

VOID = {"input", "br", "img", "meta", "link", "hr"}


class Translated(HTMLParser):
    """Collects what a browser's translation may rewrite."""

    def __init__(self) -> None:
        super().__init__()
        self.may = [True]
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            said = dict(attrs).get("translate")
            self.may.append(self.may[-1] if said is None else said != "no")

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            self.may.pop()

    def handle_data(self, data: str) -> None:
        if self.may[-1] and data.strip():
            self.texts.append(data.strip())


def _translated(client: Client) -> str:
    parser = Translated()
    parser.feed(client.get("/work/").content.decode().partition("<main")[2].partition("</main")[0])
    assert parser.texts
    return "\n".join(parser.texts)


@pytest.mark.parametrize("kind", Kind.values)
def test_leaves_item_answers_and_gold_as_they_are(client: Client, kind: str) -> None:
    batch = make.running_batch(kind=kind)
    url = reverse("annotation:join_batch", args=[batch.join_token])
    client.get(url, {"PROLIFIC_PID": make.prolific_id("p1"), "SESSION_ID": "s1"})
    client.post("/work/consent/", {"agree": "1"})
    first = _translated(client)
    assert batch.task.description not in first
    assert "Start" in first
    client.post("/work/begin/")
    example = current_example(Assignment.objects.get())
    client_sees = _translated(client)
    gold = Gold.objects.filter(example_id=example.pk).get()
    golds = [span["text"] for alternative in gold.alternatives for span in alternative]
    own = [*example.context, example.question, *(make.LABELS if kind == Kind.CHOICE else [])]
    for text in filter(None, own):
        assert text not in client_sees
    client.post("/work/submit/", {"step": 0, **make.TWO_ANSWERS[kind][1]})
    revealed = _translated(client)
    assert "Next" in revealed
    for text in filter(None, [*own, *golds]):
        assert text not in revealed.split("\n")
