"""lm-evaluation-harness runs exported prompts by its own command; in the tools' environment:
PROMPTS FOLDER REPLIES MODEL. Its dummy model weighs the choices at random; by-length, a model of
ours, writes one of the replies. A prompt's “target” is here for the tool alone."""

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
    **WAYS[model],
}
# JSON is YAML.
Path(folder, f"{name}.yaml").write_text(json.dumps(task), encoding="utf-8")
sys.argv[1:] = ["run", "--model", model, "--tasks", name, "--include_path", folder]
sys.argv += ["--log_samples", "--output_path", folder]
cli_evaluate()
[results] = Path(folder).glob("*/results_*.json")
metric = WAYS[model]["metric_list"][0]["metric"]
figure = json.loads(results.read_text())["results"][name][f"{metric},none"]
Path(folder, "figure").write_text(str(figure))
