"""No gold reaches an annotator before its judgement is locked, and test gold never does.

The same session is played again, with all gold permuted that must not be seen yet. If any response
differs by a byte (tokens and times apart), something leaked.
"""

import re
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import Assignment, Batch, Gold, Kind
from annotation.models.frozen import sequence
from tests import make

pytestmark = pytest.mark.django_db

TRAINING, TESTS = 3, 4
VOLATILE = re.compile(
    rb'csrfmiddlewaretoken" value="[^"]+"|/resume/[^/"]+'
    rb"|csrftoken=[^;]+|annotator=[^;]+|door=[^;]+|[Ee]xpires[=:] ?[^;\n]+"
    rb"|Worked and earned so far:</span>[^<]+"
    rb"|\d+ min . [\d.]+|<strong>[\d.]+\xc2\xa0USD</strong>|You worked [^:]+: at|that is [\d.]+"
    # Whose work it is, which follows the assignment's own number.
    rb'|work(?:=|" value=")[0-9a-f]{16}'
    # The personal link as a picture, who works, and the response's own id.
    rb'|<svg.*?</svg>|translate="no">[A-Z0-9]{8}<|X-Request-ID: \w+'
)


@pytest.fixture(autouse=True)
def _standing_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Amounts and minutes follow the clock, and a busy machine would tell two sessions apart."""
    now = timezone.now()
    monkeypatch.setattr(timezone, "now", lambda: now)


class Replayed(Exception):
    """Rolls a session back, so that the next one finds the same rows."""


def play(batch: Batch, steps: int, htmx: bool, checks: int = 0) -> tuple[list[bytes], list[int]]:
    """Every response of a session up to the answer form of step `steps`, and the examples in the
    order in which they came."""
    client = Client(headers={"HX-Request": "true"} if htmx else {})
    seen: list[bytes] = []

    def keep(response: Any) -> None:
        head = "\n".join(f"{k}: {v}" for k, v in sorted(response.headers.items()))
        cookies = response.cookies.output()
        body = re.sub(r"Content-Length: \d+\n?", "", head).encode() + cookies.encode()
        seen.append(VOLATILE.sub(b"", body + response.content))

    url = reverse("annotation:join_batch", args=[batch.join_token])
    keep(client.get(url, {"PROLIFIC_PID": make.prolific_id("p1"), "SESSION_ID": "s1"}))
    keep(client.post("/work/consent/", {"agree": "1"}))
    keep(client.post("/work/begin/"))
    assignment = Assignment.objects.get()
    order = [example.pk for example in sequence(batch.pk, assignment.order_seed)]
    for step in range(steps):
        answer = make.TWO_ANSWERS[batch.task.kind][step % 2]
        keep(client.post("/work/submit/", {"step": step, **answer}))
        keep(client.get("/work/"))
        if step + 1 == checks:
            keep(client.post("/work/begin/", {"step": checks}))
        if checks <= step < checks + TRAINING:
            keep(client.post("/work/next/", {"step": step}))
            keep(client.get("/work/"))
            keep(client.post("/work/begin/", {"step": step + 1}))
    keep(client.get("/work/"))
    return seen, order


def replay(
    batch: Batch, steps: int, htmx: bool, permute: list[int], checks: int = 0
) -> tuple[list, list]:
    result: tuple[list, list] = ([], [])
    try:
        with transaction.atomic():
            with make.unlocked():
                _permute_gold(batch, permute)
            result = play(batch, steps, htmx, checks)
            raise Replayed
    except Replayed:
        return result


def _permute_gold(batch: Batch, examples: list[int]) -> None:
    for gold in Gold.objects.filter(example_id__in=examples):
        texts = [span["text"] for span in gold.alternatives[0]]
        gold.alternatives = [[{"text": text} for text in _other(batch.task.kind, texts)]]
        gold.explanation = "CANARY"
        gold.save()


def _other(kind: str, texts: list[str]) -> list[str]:
    if kind == Kind.CHOICE:
        return [label for label in make.LABELS if label not in texts]
    if kind == Kind.CANDIDATE:
        return ["Anna"] if texts == ["Boris"] else ["Boris"]
    if kind == Kind.NUMBER:
        return ["1,130"] if texts == ["12"] else ["12"]
    return [] if texts else ["Anna"]


# Pages are made of rows by the same code on both databases: to the end of all the work, where every
# kind of row is there, is enough on the second.
LOCKED = [*range(TRAINING), pytest.param(TRAINING, marks=pytest.mark.both_databases)]


@pytest.mark.parametrize("htmx", [False, True], ids=["page", "fragment"])
@pytest.mark.parametrize("locked", LOCKED)
@pytest.mark.parametrize("kind", Kind.values)
def test_shows_nothing_of_gold_that_is_not_locked(kind: str, locked: int, htmx: bool) -> None:
    batch = make.running_batch(kind=kind, training=TRAINING, tests=TESTS, via="prolific")
    steps = locked if locked < TRAINING else TRAINING + TESTS
    plain, order = replay(batch, steps, htmx, permute=[])
    permuted, same_order = replay(batch, steps, htmx, permute=order[locked:])
    assert order == same_order
    assert plain == permuted


@pytest.mark.parametrize("htmx", [False, True], ids=["page", "fragment"])
@pytest.mark.parametrize("kind", Kind.values)
def test_shows_nothing_of_the_gold_of_checks(kind: str, htmx: bool) -> None:
    """Whatever it is, as nobody is sent away: to the end of all the work."""
    checks = 10
    batch = make.running_checked_batch(
        kind=kind, other=kind, training=TRAINING, tests=TESTS, via="prolific", min_check_score=0
    )
    steps = checks + TRAINING + TESTS
    plain, order = replay(batch, steps, htmx, [], checks)
    unseen = [*order[:checks], *order[checks + TRAINING :]]
    permuted, same_order = replay(batch, steps, htmx, unseen, checks)
    assert order == same_order
    assert len(order) == steps
    assert plain == permuted


def test_notices_gold_that_is_shown() -> None:
    """The masks above are not so wide that a reveal would pass."""
    batch = make.running_batch(training=TRAINING, tests=TESTS, via="prolific")
    plain, order = replay(batch, 1, False, permute=[])
    permuted, _ = replay(batch, 1, False, permute=order)
    assert plain != permuted
