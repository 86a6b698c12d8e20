"""Options ranked by their log-probabilities, over both kinds of endpoint."""

import json
from collections.abc import Callable
from io import StringIO
from math import exp
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from annotation.models import Example, ItemSet, Kind, Role
from scoring.models import Reply, Run
from tests import make
from tests.every import every
from tests.scoring.asking.endpoint import Documents, Said, endpoint
from tests.scoring.asking.ranking_model import RankingModel, completion
from tests.scoring.runs.runs_from import answers

pytestmark = pytest.mark.django_db(transaction=True)

MODEL = RankingModel()
WAYS = {"echo": MODEL.echoing, "token by token": MODEL.forcing}
# Of one and of several tokens, one the beginning of another, and of several scripts.
LABELS = ["good", "good enough", "größer – 好", "x y"]


def ranked(url: str, way: str = "likelihood", **options: Any) -> str:
    out = StringIO()
    given = {"base_url": url, "retries": 0, "answers": way} | options
    call_command("run_model", "toy", **given, stdout=out, stderr=StringIO())
    return out.getvalue()


def with_labels(labels: list[str], **fields: Any) -> None:
    make.task(**fields)
    ItemSet.objects.update(choices=labels)


def with_own_options(*options: list[str]) -> None:
    make.task(training=0, tests=len(options))
    ItemSet.objects.update(choices=[])
    for number, some in enumerate(options):
        Example.objects.filter(identity=f"id:test {number}").update(options=some)


def told(run: Run) -> dict[str, dict[str, float]]:
    """The replies, by the example's own id."""
    replies = Reply.objects.filter(prediction__run=run).order_by("prediction__example__identity")
    rows = replies.values_list("prediction__example__identity", "text")
    return {identity.removeprefix("id:"): json.loads(text) for identity, text in rows}


def prompts_of(**options: Any) -> dict[str, str]:
    out = StringIO()
    call_command("export_prompts", **options, stdout=out, stderr=StringIO())
    lines = map(json.loads, out.getvalue().splitlines())
    return {line["example"]: line["prompt"] for line in lines if line["role"] == "test"}


@pytest.mark.parametrize("way", WAYS)
def test_sums_what_the_model_gives_the_tokens_of_each_option(way: str) -> None:
    with_labels(LABELS, training=3, tests=6)
    with endpoint(documents=WAYS[way]) as served:
        ranked(served.url, shots=[3])
    run = Run.objects.get()
    assert (run.system, run.method, run.coverage) == ("toy, by likelihood", "ICL", 1)
    found, prompts = told(run), prompts_of(shots=[3])
    assert found.keys() == prompts.keys()
    for example, prompt in prompts.items():
        expected = {label: MODEL.sum_of(prompt, f" {label}") for label in LABELS}
        assert found[example] == pytest.approx(expected, abs=1e-5)
        assert answers(run)[example] == [max(expected, key=lambda label: expected[label])]
    assert len(set(map(tuple, answers(run).values()))) > 1, "a test that could tell"
    assert way in run.report["asked"]["client"]
    assert run.report["asked"]["input_tokens"] > 0


def test_divides_by_the_length_where_it_is_told_to() -> None:
    with_labels(LABELS, training=0, tests=12)
    with endpoint(documents=MODEL.echoing) as served:
        ranked(served.url)
        ranked(served.url, "likelihood-normalized")
    plain, normalized = Run.objects.order_by("pk")
    assert normalized.system == "toy, by normalized likelihood"
    assert told(plain) == told(normalized)
    for example, found in told(normalized).items():
        best = max(found, key=lambda label: found[label] / len(label))
        assert answers(normalized)[example] == [best]
    assert answers(plain) != answers(normalized)


@pytest.mark.parametrize("own", [False, True], ids=["labels", "options of its own"])
def test_calibrates_by_prompts_without_content(own: bool) -> None:
    """By another calculation than ours; and these prompts are asked once."""
    if own:
        with_own_options(["yes", "no", "maybe"], ["Lagos", "Accra", "Kano"])
    else:
        with_labels(LABELS, training=0, tests=8)
    with endpoint(documents=MODEL.echoing) as served:
        ranked(served.url, "likelihood-calibrated")
    run, prompts = Run.objects.get(), prompts_of()
    written = ["A", "B", "C"] if own else LABELS
    shares = []
    for nothing in ("N/A", "[MASK]", ""):
        first = next(iter(prompts.values()))
        options = "".join(f"\n{letter}. {nothing}" for letter in written)
        end = options if own else "\nOptions: " + "; ".join(LABELS)
        asks = f"\nQuestion: {nothing}" if nothing else ""
        begin = first[: first.index("Context:")]
        context = f"Context: {nothing}{asks}" if asks or not own else f"Question: {nothing}"
        prompt = f"{begin}{context}{end}\nAnswer:"
        assert prompt in served.prompts, "of nothing but these words"
        odds = [exp(MODEL.sum_of(prompt, f" {text}")) for text in written]
        shares.append([one / sum(odds) for one in odds])
    assert max(count for prompt, count in served.prompts.items() if "test" not in prompt) == 1
    for example, prompt in prompts.items():
        scores = [
            exp(MODEL.sum_of(prompt, f" {text}")) / (sum(share[n] for share in shares) / 3)
            for n, text in enumerate(written)
        ]
        best = scores.index(max(scores))
        assert answers(run)[example] == [str(best) if own else written[best]]
    assert run.system == "toy, by calibrated likelihood"


@pytest.mark.parametrize("way", WAYS)
def test_ranks_the_letters_of_options_of_an_example_of_its_own(way: str) -> None:
    """Two that read alike stay two."""
    with_own_options(["yes", "yes", "no"], ["Lagos", "Accra"])
    with endpoint(documents=WAYS[way]) as served:
        ranked(served.url)
    run = Run.objects.get()
    prompts, found = prompts_of(), told(run)
    assert [list(found[example]) for example in ("test 0", "test 1")] == [
        ["A", "B", "C"],
        ["A", "B"],
    ]
    for example, prompt in prompts.items():
        sums = [MODEL.sum_of(prompt, f" {letter}") for letter in found[example]]
        assert answers(run)[example] == [str(sums.index(max(sums)))]


def test_asks_by_text_what_is_no_choice() -> None:
    """In the same system: it is asked by likelihood where it chooses."""
    benchmark = make.task(training=0, tests=2, slug="mood").benchmark
    make.task(benchmark, kind=Kind.SPANS, training=0, tests=2, slug="names")
    make.task(benchmark, kind=Kind.LABELS, training=0, tests=2, slug="topics")

    def documents(path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        if path == "/v1/completions":
            return MODEL.echoing(path, body)
        choice = {
            "index": 0,
            "finish_reason": "stop",
            "message": {"role": "assistant", "content": "none"},
        }
        return 200, {**completion(10, None), "object": "chat.completion", "choices": [choice]}

    with endpoint(documents=documents) as served:
        ranked(served.url)
    ways = {run.task.slug: run.report["asked"]["answers"] for run in Run.objects.all()}
    assert ways == {"mood": "likelihood", "names": "text", "topics": "text"}
    assert set(Run.objects.values_list("system", flat=True)) == {"toy, by likelihood"}
    assert answers(Run.objects.get(task__slug="names")) == {"test 0": [], "test 1": []}


def test_asks_only_what_is_missing_when_it_is_started_again() -> None:
    make.task(training=0, tests=4)
    fails = True

    def documents(path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        if fails and "test 2?" in str(body["prompt"]):
            return 400, {"error": {"message": "not this one"}}
        return MODEL.echoing(path, body)

    with endpoint(documents=documents) as served:
        with pytest.raises(CommandError, match="1 prompt got no answer") as refused:
            ranked(served.url)
        assert "not this one" in str(refused.value)
        fails = False
        before = len(served.requests)
        ranked(served.url)
        new = [str(body["prompt"]) for _, body, _ in served.requests[before:]]
    # Once to learn which way it gives log-probabilities, and once for each option.
    assert len([prompt for prompt in new if "Question about" in prompt]) == 3
    assert every("test 2?" in prompt for prompt in new if "Question about" in prompt)
    assert Run.objects.get().coverage == 1


def test_is_another_system_than_the_same_model_by_text() -> None:
    make.task(training=0, tests=2)
    with endpoint(documents=MODEL.echoing) as served:
        ranked(served.url)
    with endpoint(lambda *_: Said("good")) as served:
        ranked(served.url, "text")
    assert sorted(Run.objects.values_list("system", flat=True)) == ["toy", "toy, by likelihood"]


def test_says_on_the_page_of_the_run_which_way_answered() -> None:
    make.task(training=0, tests=2)
    with endpoint(documents=MODEL.forcing) as served:
        ranked(served.url)
    client = Client()
    client.force_login(make.User.objects.create_superuser("root"))
    address = reverse("admin:scoring_run_change", args=[Run.objects.get().pk])
    page = client.get(address).content.decode()
    assert "each option ranked by its log-probability (likelihood)" in page
    assert "token by token" in page


def not_there(path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    return 404, {"error": {"message": "no such address"}}


@pytest.mark.parametrize("documents", [MODEL.silent, not_there], ids=["silent", "chat alone"])
def test_refuses_an_endpoint_without_log_probabilities(documents: Documents) -> None:
    make.task(training=0, tests=2)
    refusing = pytest.raises(CommandError, match="gives no log-probabilities of options")
    with endpoint(documents=documents) as served, refusing:
        ranked(served.url)
    assert not Run.objects.exists()


def test_refuses_an_address_where_nothing_answers() -> None:
    make.task(training=0, tests=2)
    with pytest.raises(CommandError, match=r"Nothing answers at http://127\.0\.0\.1:1/v1"):
        ranked("http://127.0.0.1:1/v1")


def no_log_probability_of(text: str) -> Callable[[str, dict[str, Any]], tuple[int, dict[str, Any]]]:
    def documents(path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        status, document = MODEL.echoing(path, body)
        if body["prompt"].endswith(text):
            document["choices"][0]["logprobs"]["token_logprobs"][-2] = None
        return status, document

    return documents


def test_says_which_option_got_no_log_probability() -> None:
    make.task(training=0, tests=1)
    refusing = pytest.raises(CommandError, match="gives no log-probability of “good”")
    with endpoint(documents=no_log_probability_of(" good")) as served, refusing:
        ranked(served.url)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"format": "chat"}, "ranked after a plain text"),
        ({"base_url": ""}, "names no provider"),
    ],
)
def test_says_in_one_sentence_what_cannot_be_ranked(options: dict[str, Any], sentence: str) -> None:
    make.task(training=0, tests=1)
    with endpoint(documents=MODEL.echoing) as served:
        with pytest.raises(CommandError, match=sentence):
            ranked(served.url, **options)
        assert not served.requests


def test_refuses_a_model_of_a_provider() -> None:
    make.task(training=0, tests=1)
    with pytest.raises(CommandError, match="openai/gpt is neither"):
        call_command("run_model", "openai/gpt", answers="likelihood", stderr=StringIO())


@pytest.mark.parametrize("labels", [["good", " "], []])
def test_refuses_an_empty_option(labels: list[str]) -> None:
    make.task(training=0, tests=1)
    ItemSet.objects.filter(role=Role.TEST).update(choices=labels)
    with endpoint(documents=MODEL.echoing) as served:
        with pytest.raises(CommandError, match="has no options, or an empty one"):
            ranked(served.url)
        assert not served.requests
