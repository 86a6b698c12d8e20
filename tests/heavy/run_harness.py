"""lm-evaluation-harness runs exported prompts by its own command; in the tools' environment:
PROMPTS FOLDER REPLIES MODEL. Its dummy model weighs the choices at random; by-length, a model of
ours, writes one of the replies; any other name is the folder of a causal model. A prompt's “target”
is here for the tool alone, and so are the texts to be ranked, as “written”."""

import json
import sys
from pathlib import Path

import lm_eval.models  # noqa: F401  registers its own models
from lm_eval.__main__ import cli_evaluate
from lm_eval.api.instance import Instance
from lm_eval.api.model import LM
from lm_eval.api.registry import register_model

WAYS = {
    "by-length": {
        "output_type": "generate_until",
        "doc_to_target": "{{target}}",
        "metric_list": [{"metric": "exact_match"}],
        "generation_kwargs": {"until": ["\n"]},
    },
    "dummy": {
        "output_type": "multiple_choice",
        "doc_to_choice": "{{options}}",
        "doc_to_target": "{{options.index(target)}}",
        "metric_list": [{"metric": "acc"}],
    },
}
CAUSAL = {
    "output_type": "multiple_choice",
    "doc_to_choice": "{{written}}",
    "doc_to_target": "{{written.index(target)}}",
    "metric_list": [{"metric": "acc"}, {"metric": "acc_norm"}],
}


@register_model("by-length")
class ByLength(LM):
    """Answers with a reply that follows from the length of the prompt alone."""

    def __init__(self, **_settings: object) -> None:
        super().__init__()

    def generate_until(self, requests: list[Instance], disable_tqdm: bool = False) -> list[str]:
        return [REPLIES[len(request.args[0]) % len(REPLIES)] for request in requests]

    def loglikelihood(self, *_asked: object) -> list:
        raise NotImplementedError

    loglikelihood_rolling = loglikelihood


prompts, folder, replies, model = sys.argv[1:]
REPLIES = json.loads(replies)
name = json.loads(Path(prompts).read_text(encoding="utf-8").splitlines()[0])["task"]
task = {
    "task": name,
    "dataset_path": "json",
    "dataset_kwargs": {"data_files": {"test": prompts}},
    "test_split": "test",
    "doc_to_text": "{{prompt}}",
    **WAYS.get(model, CAUSAL),
}
# JSON is YAML.
Path(folder, f"{name}.yaml").write_text(json.dumps(task), encoding="utf-8")
sys.argv[1:] = ["run", "--tasks", name, "--include_path", folder]
sys.argv += ["--log_samples", "--output_path", folder]
sys.argv += ["--model", model if model in WAYS else "hf"]
if model not in WAYS:
    sys.argv += ["--model_args", f"pretrained={model},dtype=float32", "--device", "cpu"]
cli_evaluate()
[results] = Path(folder).glob("*/results_*.json")
figures = json.loads(results.read_text())["results"][name]
metrics = [metric["metric"] for metric in task["metric_list"]]
Path(folder, "figure").write_text(" ".join(str(figures[f"{metric},none"]) for metric in metrics))
