"""Options ranked by likelihood: as lm-evaluation-harness ranks them, on the same causal model and
prompts, and the same from a folder as from endpoints that serve it."""

import json
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from scoring.models import Reply, Run
from scoring.runs.scores import scores_of_run
from tests.heavy.commands import import_demo
from tests.heavy.test_model_tools import (
    HERE,
    TABLES,
    exported_with_targets,
    quiet,
    rows,
    run_tool,
    with_targets,
)
from tests.scoring.asking.endpoint import Documents, endpoint
from tests.scoring.asking.ranking_model import NOT_FOUND, completion
from tests.scoring.asking.ranking_model import Reply as Sent

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.models]

# As close as the sums of two ways on one processor are.
CLOSE = 1e-3


@pytest.fixture(scope="module")
def causal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model") / "causal"
    import_module("tests.small_models").make_causal(folder)
    return folder


def by_harness(prompts: Path, model: Path) -> tuple[list[float], dict[str, list[float]]]:
    """Its own acc and acc_norm, and its log-probabilities by the example."""
    out = prompts.parent / "out"
    out.mkdir()
    done = run_tool(HERE / "run_harness.py", prompts, out, "[]", str(model), folder=prompts.parent)
    assert done.returncode == 0, done.stderr[-1500:]
    [written] = out.glob("*/samples_*.jsonl")
    found = {
        row["doc"]["example"]: [float(one[0][0]) for one in row["resps"]] for row in rows(written)
    }
    return [float(figure) for figure in (out / "figure").read_text().split()], found


def by_ourselves(model: str, way: str, **options: Any) -> Run:
    given = {"answers": way, "retries": 0} | options
    call_command("run_model", model, **given, stdout=StringIO(), stderr=StringIO())
    return Run.objects.latest("pk")


def told(run: Run) -> dict[str, list[float]]:
    replies = Reply.objects.filter(prediction__run=run)
    items = dict(run.test_set.items.values_list("example_id", "source_id"))
    return {
        items[example]: list(json.loads(text).values())
        for example, text in replies.values_list("prediction__example_id", "text")
    }


def of_reviews(folder: Path) -> tuple[Path, dict[str, Any]]:
    prompts = exported_with_targets(folder / "prompts.jsonl")
    return prompts, {"task": ["reviews"], "shots": [10], "splits": [1]}


def of_own_options(folder: Path) -> tuple[Path, dict[str, Any]]:
    name, text, _ = TABLES["options of each question"]
    (folder / name).write_text(text)
    draw = {"draw_shots": [5], "splits": 1, "draw_test": 30, "seed": 7}
    quiet("import_benchmark", folder / name, name="table", **draw)
    quiet("export_prompts", benchmark="table", shots=[5], output=folder / "prompts.jsonl")
    with_targets(folder / "prompts.jsonl")
    return folder / "prompts.jsonl", {"benchmark": "table", "shots": [5]}


@pytest.mark.parametrize("given", [of_reviews, of_own_options])
def test_ranks_as_the_harness_does(given: Any, causal: Path, tmp_path: Path) -> None:
    prompts, subject = given(tmp_path)
    letters = "ABCDEFGHIJ"
    lines = [
        {**line, "written": list(letters[: len(line["options"])])}
        if "labels" in line
        else {**line, "written": line["options"]}
        for line in rows(prompts)
    ]
    prompts.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    (acc, acc_norm), expected = by_harness(prompts, causal)
    for way, figure in (("likelihood", acc), ("likelihood-normalized", acc_norm)):
        run = by_ourselves(f"hf/{causal}", way, system="Small", **subject)
        assert run.coverage == 1
        assert run.report["asked"]["client"].startswith("transformers")
        found = told(run)
        assert found.keys() == expected.keys()
        for example, sums in expected.items():
            assert found[example] == pytest.approx(sums, abs=CLOSE)
        assert scores_of_run(run)[0].mean == pytest.approx(100 * figure)
        assert 0 < figure < 1


def serving(folder: Path) -> dict[str, Documents]:
    """The model itself behind both kinds of endpoint."""
    torch, transformers = import_module("torch"), import_module("transformers")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()

    def known(tokens: list[int]) -> Any:
        with torch.inference_mode():
            return model(torch.tensor([tokens])).logits[0].log_softmax(-1)

    def tokens_of(prompt: Any) -> list[int]:
        return tokenizer(prompt)["input_ids"] if isinstance(prompt, str) else prompt

    def echoing(path: str, body: dict[str, Any]) -> Sent:
        if path != "/v1/completions":
            return NOT_FOUND
        tokens = tokens_of(body["prompt"])
        after = known(tokens)
        shown = [None, *(float(after[n, token]) for n, token in enumerate(tokens[1:])), -0.5]
        return 200, completion(len(tokens), {"token_logprobs": shown})

    def forcing(path: str, body: dict[str, Any]) -> Sent:
        if path == "/tokenize":
            return 200, {"tokens": tokens_of(body["content"])}
        tokens = tokens_of(body["prompt"])
        token = next(iter(map(int, body.get("logit_bias", {1: 0}))))
        said = {"id": token, "logprob": float(known(tokens)[-1, token])}
        return 200, completion(len(tokens), {"content": [said]})

    return {"echo": echoing, "token by token": forcing}


def test_gives_the_same_sums_by_every_way(causal: Path, tmp_path: Path) -> None:
    _, subject = of_reviews(tmp_path)
    local = by_ourselves(f"hf/{causal}", "likelihood", limit=5, **subject)
    for way, documents in serving(causal).items():
        with endpoint(documents=documents) as served:
            run = by_ourselves(way, "likelihood", base_url=served.url, limit=5, **subject)
        assert way in run.report["asked"]["client"]
        found = told(run)
        assert found.keys() == told(local).keys()
        for example, sums in told(local).items():
            assert found[example] == pytest.approx(sums, abs=CLOSE)


def test_asks_the_same_folder_by_text(causal: Path) -> None:
    benchmark = import_demo()
    sets = {"benchmark": benchmark.name, "task": ["reviews"], "shots": [0], "limit": 2}
    first, second = (
        by_ourselves(f"hf/{causal}", "text", **sets, max_tokens=4, system=name)
        for name in ("one", "another")
    )
    answers = [dict(run.predictions.values_list("example_id", "answer")) for run in (first, second)]
    assert len(answers[0]) == 2
    assert answers[0] == answers[1], "nothing is drawn at random"
