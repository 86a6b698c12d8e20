"""The command against a stand-in endpoint: what it asks, stores, and takes up again."""

from collections.abc import Callable
from io import StringIO
from threading import Event
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Benchmark, Gold, Kind, Task
from scoring.management.commands import run_model
from scoring.models import Prediction, Reply, Run, RunState, Spending
from scoring.runs.scores import scores_of_run
from tests import make
from tests.every import every
from tests.scoring.asking.endpoint import VERSION, Endpoint, Said, endpoint
from tests.scoring.runs.runs_from import answers

pytestmark = pytest.mark.django_db(transaction=True)


def asked(served: Endpoint, *, model: str = "toy", **options: Any) -> str:
    out = StringIO()
    defaults: dict[str, Any] = {"base_url": served.url, "retries": 0}
    call_command("run_model", model, **defaults | options, stdout=out, stderr=StringIO())
    return out.getvalue()


def number_of(prompt: str) -> int:
    """Which test example a prompt asks about."""
    return int(prompt.rpartition("Question about test ")[2].partition("?")[0])


def by_number(*said: Said | str) -> Callable[[str, int], Said]:
    """What is answered to each test example."""

    def script(prompt: str, before: int) -> Said:
        answer = said[number_of(prompt)]
        return Said(answer) if isinstance(answer, str) else answer

    return script


@pytest.mark.both_databases
def test_stores_what_a_model_answers() -> None:
    """Right, wrong, wordy and empty answers; nothing is asked twice."""
    task = make.task(training=3, tests=4)
    wordy = "The answer is **good**, because they met."
    with endpoint(by_number("good", "B. good", wordy, "")) as served:
        out = asked(served, shots=[3])
    run = Run.objects.get()
    assert (run.state, run.system, run.method) == (RunState.COMPLETE, "toy", "ICL")
    assert (run.shots, run.split, run.coverage) == (3, 1, 1)
    assert answers(run) == {
        "test 0": ["good"],
        "test 1": ["good"],
        "test 2": ["good"],
        "test 3": [],
    }
    written = Reply.objects.get(prediction__example__identity="id:test 2")
    assert (written.text, written.version) == (wordy, VERSION)
    golds = [make.gold_texts(task.kind, f"test {n}") for n in range(4)]
    right = sum(gold == ["good"] for gold in golds[:3])
    assert scores_of_run(run)[0].mean == pytest.approx(100 * right / 4)
    assert run.report["empty"] == 1
    assert list(served.prompts.values()) == [1] * 4
    assert "4 matched, 0 unmatched, 0 missing" in out


def test_keeps_how_it_was_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENDPOINT_API_KEY", "secret-of-ours")
    make.task(training=2, tests=2)
    with endpoint(by_number("good", "bad")) as served:
        asked(served, shots=[2], temperature=0.5, seed=7, max_tokens=9, prices=[1, 2])
    [(path, body, key), _] = served.requests
    assert (path, key) == ("/v1/chat/completions", "Bearer secret-of-ours")
    assert (body["model"], body["temperature"], body["seed"], body["max_tokens"]) == (
        "toy", 0.5, 7, 9,
    )  # fmt: skip
    report = Run.objects.get().report
    told = report["asked"]
    assert (told["temperature"], told["seed"], told["max_tokens"]) == (0.5, 7, 9)
    assert told["versions"] == [VERSION]
    assert told["provider"] == served.url.split("/")[2]
    assert told["from"] <= told["to"]
    assert (told["input_tokens"], told["output_tokens"]) == (200, 10)
    assert told["cost"] == pytest.approx(220 / 1e6)
    assert told["client"].startswith("inspect-ai ")
    assert (report["prompts"]["seed"], len(report["prompts"]["shown"])) == (7, 2)
    assert len(report["prompts"]["checksum"]) == 64
    assert "secret-of-ours" not in str(Run.objects.values_list()) + str(Reply.objects.values())


def test_another_seed_is_another_run_though_it_says_the_same() -> None:
    make.task(training=2, tests=2)
    with endpoint(by_number("good", "bad")) as served:
        for seed in (0, 1, 2, 1):
            asked(served, shots=[2], seed=seed)
    assert [run.repeat for run in Run.objects.complete().order_by("pk")] == [None, 1, 2]


def test_sends_no_key_of_a_provider_to_another_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret-of-a-provider")
    monkeypatch.delenv("ENDPOINT_API_KEY", raising=False)
    make.task(training=0, tests=1)
    with endpoint(by_number("good")) as served:
        asked(served)
    assert [key for _, _, key in served.requests] == ["Bearer none"]


def test_asks_again_what_failed_for_a_moment() -> None:
    """A rate limit, an error of the server, an answer cut off: each is retried until it comes."""
    make.task(training=0, tests=3)
    first = [Said(status=429), Said(status=500), Said("good", cut_off=True)]

    def script(prompt: str, before: int) -> Said:
        return Said("good") if before else first[number_of(prompt)]

    with endpoint(script) as served:
        asked(served)
    assert sorted(served.prompts.values()) == [2, 2, 2]
    assert Run.objects.get().coverage == 1


def test_says_why_nothing_comes_while_it_tries_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_model, "EVERY_S", 0.0)
    make.task(training=0, tests=1)
    told = StringIO()

    def script(prompt: str, before: int) -> Said:
        return Said("good") if before > 2 else Said(status=500)

    with endpoint(script) as served:
        options = {"base_url": served.url, "retries": 2}
        call_command("run_model", "toy", **options, stdout=StringIO(), stderr=told)
    assert "InternalServerError, status 500: attempt 1 failed, the next in" in told.getvalue()
    assert Run.objects.get().coverage == 1


@pytest.mark.both_databases
def test_asks_only_what_is_missing_when_it_is_started_again() -> None:
    make.task(training=0, tests=4)
    with endpoint(by_number("good", Said(status=500), "bad", "good")) as served:
        with pytest.raises(CommandError, match="1 prompt got no answer, so these runs are not"):
            asked(served)
        run = Run.objects.get()
        assert (run.state, run.predictions.count()) == (RunState.UPLOADING, 3)
        before = served.prompts
        served.script = by_number("never", "bad", "never", "never")
        asked(served)
        new = served.prompts - before
    assert [number_of(prompt) for prompt in new] == [1]
    run.refresh_from_db()
    assert run.state == RunState.COMPLETE
    assert answers(run)["test 1"] == ["bad"]
    assert Reply.objects.count() == 4
    with endpoint(by_number()) as silent:
        # Another address is another model; the same one has nothing left to say.
        served.url, silent_url = silent.url, served.url
        out = asked(served, base_url=silent_url)
    assert not silent.requests
    assert "there already: nothing changed" in out


def test_waits_for_what_is_under_way_when_it_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """A slow answer has been asked and paid for: it is stored, and not asked again."""
    make.task(training=0, tests=4)
    slow = Event()

    def script(prompt: str, before: int) -> Said:
        return Said("good", after=slow if number_of(prompt) == 1 else None)

    def interrupt(tally: Any, at: str) -> None:
        if tally.answered == 1:
            slow.set()
            raise KeyboardInterrupt

    teller = "scoring.management.commands.run_model.now_and_then"
    with endpoint(script) as served:
        with monkeypatch.context() as patched:
            patched.setattr(teller, lambda *_: interrupt)
            with pytest.raises(CommandError, match="the same command asks the rest") as stopped:
                asked(served, connections=2)
        assert stopped.value.returncode == 130
        stored = Prediction.objects.count()
        assert stored == len(served.requests) < 4
        asked(served, connections=2)
    assert list(served.prompts.values()) == [1] * 4
    assert Run.objects.get().coverage == 1


def test_stops_asking_a_model_that_fails_every_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENDPOINT_API_KEY", "secret-of-ours")
    make.task(training=0, tests=40)
    wrong = Said("the key secret-of-ours is wrong", status=401)
    refusing = pytest.raises(CommandError, match="so no more was asked")
    with endpoint(lambda *_: wrong) as served, refusing as refused:
        asked(served, connections=2)
    assert len(served.requests) < 20
    assert "the key … is wrong" in str(refused.value)


@pytest.mark.both_databases
def test_takes_a_part_first_and_the_rest_later() -> None:
    make.task(training=0, tests=4)
    with endpoint(by_number("good", "bad", "good", "bad")) as served:
        asked(served, limit=2)
        assert Run.objects.get().coverage == 0.5
        asked(served)
    assert list(served.prompts.values()) == [1] * 4
    # The part would count twice.
    whole = Run.objects.get()
    assert whole.coverage == 1
    assert Reply.objects.filter(prediction__run=whole).count() == 4


def test_shows_prompts_and_cost_without_asking() -> None:
    task = make.task(training=3, tests=4)
    with endpoint(by_number()) as served:
        out = asked(served, dry_run=True, prices=[2.5, 10], max_tokens=10)
        plain = asked(served, dry_run=True, shots=[0], format="chat")
    assert not served.requests
    assert not Run.objects.exists()
    assert out.startswith(f"--- the first prompt of {task.slug}, ")
    assert task.description in out
    assert "8 prompts in 2 runs; 8 to be asked." in out
    assert "and at most 80 to write." in out
    assert "USD to read, and at most" in out
    assert "[system]" in plain
    assert "The cost is not known" in plain


def test_asks_what_the_people_of_a_study_saw() -> None:
    batch = make.running_batch(training=3)
    Task.objects.filter(pk=batch.task_id).update(description="Something newer.")
    with endpoint(by_number("good", "bad", "good", "bad")) as served:
        asked(served, study=batch.study.slug, format="chat")
    assert every(batch.description in prompt for prompt in served.prompts)
    [_, _, body] = [served.requests[0][1]["messages"][n]["role"] for n in (0, 1, 2)]
    assert body == "assistant"
    run = Run.objects.get()
    assert run.report["prompts"]["study"] == batch.study.slug
    assert (run.shots, run.split) == (3, 1)


def test_sends_plain_completions_to_a_base_model() -> None:
    make.task(kind=Kind.SPANS, training=2, tests=2)
    with endpoint(by_number('["Anna"]\n\nContext: more', "none")) as served:
        asked(served, shots=[2], completions=True)
    assert {path for path, _, _ in served.requests} == {"/v1/completions"}
    # Such a model goes on with shots of its own: what it is paid for ends where they begin.
    assert [body["stop"] for _, body, _ in served.requests] == [["\n\n"]] * 2
    assert answers(Run.objects.get()) == {"test 0": ["Anna"], "test 1": []}


def test_never_sends_the_gold_of_a_test_example() -> None:
    make.task(training=0, tests=3)
    for number, gold in enumerate(Gold.objects.all()):
        gold.alternatives = [[{"text": f"CANARY{number}"}]]
        gold.save()
    with endpoint(by_number("good", "bad", "good")) as served:
        asked(served)
    assert "CANARY" not in str(served.requests)


@pytest.mark.parametrize("form", ["icl", "chat"])
def test_has_a_model_think_first_and_reads_its_last_answer(form: str) -> None:
    make.task(training=2, tests=2)
    thought = "It could be bad.\nAnswer: bad? No.\nAnswer: good"
    with endpoint(by_number(thought, "Who knows.\nAnswer: bad")) as served:
        asked(served, shots=[2], reasoning=True, format=form)
        asked(served, shots=[2], format=form)
    told, plain = Run.objects.order_by("pk")
    assert (told.system, plain.system) == ("toy, with reasoning", "toy")
    assert answers(told) == {"test 0": ["good"], "test 1": ["bad"]}
    assert thought in set(Reply.objects.values_list("text", flat=True))
    first, *_, last = served.prompts
    assert "Think step by step first." in first
    assert "Think step by step" not in last
    assert first.endswith("Reasoning:" if form == "icl" else "bad; good")
    assert first.count("Answer: ") == (2 if form == "icl" else 0), "the shots have no reasons"
    assert told.report["asked"]["reasoning"]
    assert "reasoning" not in plain.report["asked"], "as runs before it were keyed"


def test_keeps_what_a_model_thought_apart_from_its_answer() -> None:
    make.task(training=0, tests=1)

    def documents(path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        message = {"role": "assistant", "content": "good", "reasoning_content": "Bad? No."}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        usage = {"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14}
        reply = {"id": "1", "object": "chat.completion", "created": 1, "model": "m"}
        return 200, {**reply, "choices": [choice], "usage": usage}

    with endpoint(documents=documents) as served:
        asked(served)
    assert answers(Run.objects.get()) == {"test 0": ["good"]}
    assert Reply.objects.get().text == "<think>Bad? No.</think>\ngood"


def test_stops_at_the_budget_and_asks_the_rest_with_another() -> None:
    make.task(training=0, tests=12)
    prices: dict[str, Any] = {"prices": [10, 10], "max_tokens": 10}
    with endpoint(lambda *_: Said("good")) as served:
        with pytest.raises(CommandError, match="does not pay for another prompt") as refused:
            asked(served, budget=0.004, **prices)
        assert "of 12 answers; " in str(refused.value)
        stored = Reply.objects.count()
        assert 0 < stored < 4, "each costs 0.00105 USD"
        assert Run.objects.get().state == RunState.UPLOADING
        asked(served, budget=1, **prices)
    assert Run.objects.get().coverage == 1
    assert list(served.prompts.values()) == [1] * 12
    assert sorted(Spending.objects.values_list("input_tokens", flat=True)) == sorted(
        [100 * stored, 100 * (12 - stored)]
    )


def test_says_when_answers_were_cut_off() -> None:
    make.task(training=0, tests=2)
    with endpoint(by_number(Said("I think that", stop="length"), "good")) as served:
        out = asked(served, max_tokens=3)
    assert "1 answers were cut off after 3 tokens" in out


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"base_url": "", "model": "gpt"}, "names no provider"),
        ({"base_url": "", "model": "nobody/gpt"}, "Inspect cannot reach nobody/gpt"),
        ({"base_url": "127.0.0.1:8080"}, "is not an address such as"),
        ({"base_url": "http://me:secret@host/v1"}, "it may hold no key"),
        ({"max_tokens": 0}, "must be at least 1"),
        ({"budget": 1.0}, "is kept by the prices"),
        ({"budget": 0.0, "prices": [1, 1]}, "a budget more than 0 USD"),
        ({"prices": [-1.0, 1]}, "A price is at least 0 USD"),
        ({"prices": [float("nan"), 1]}, "A price is at least 0 USD"),
        ({"completions": True, "base_url": "http://127.0.0.1:9/v1", "format": "chat"}, "one text"),
        ({"limit": 0}, "The limit must be at least 1"),
        ({"study": "other"}, "no study 'other'"),
        ({"task": ["other"]}, "no task “other”"),
        ({"shots": [0], "format": "unifew", "reasoning": True}, "leave no room for reasoning"),
        ({"answers": "likelihood", "reasoning": True}, "leave one of the two out"),
        ({"shots": [3], "format": "unifew"}, "shows each example by itself"),
    ],
)
def test_says_in_one_sentence_what_is_wrong(options: dict[str, Any], sentence: str) -> None:
    make.task(training=3, tests=1)
    with endpoint(by_number("good")) as served:
        with pytest.raises(CommandError, match=sentence):
            asked(served, **options)
        assert not served.requests
    assert not Run.objects.exists()


def test_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ModuleNotFoundError("No module named 'inspect_ai'", name="inspect_ai")

    monkeypatch.setattr("scoring.asking.asking.import_module", missing)
    make.task()
    with pytest.raises(CommandError, match=r"pip install -r requirements-asking\.txt"):
        call_command("run_model", "toy", base_url="http://127.0.0.1:1/v1", stderr=StringIO())


def test_names_the_benchmark_of_a_study() -> None:
    batch = make.running_batch()
    other = make.benchmark()
    sentence = f"is not on the benchmark {other.name}"
    with pytest.raises(CommandError, match=sentence):
        call_command("run_model", "a/b", study=batch.study.slug, benchmark=other.name)
    assert Benchmark.objects.count() == 2
