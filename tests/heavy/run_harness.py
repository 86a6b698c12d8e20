"""lm-evaluation-harness runs exported prompts by its own command, with a model of ours; in the
tools' environment: PROMPTS FOLDER."""

import json
import sys
from pathlib import Path

from lm_eval.__main__ import cli_evaluate
from lm_eval.api.instance import Instance
from lm_eval.api.model import LM
from lm_eval.api.registry import register_model

LABELS = ["negative", "positive"]


@register_model("by-length")
class ByLength(LM):
    """Answers with a label that follows from the length of the prompt alone."""

    def __init__(self, **_settings: object) -> None:
        super().__init__()

    def generate_until(self, requests: list[Instance], disable_tqdm: bool = False) -> list[str]:
        return [f" {LABELS[len(request.args[0]) % 2]}" for request in requests]

    def loglikelihood(self, *_asked: object) -> list:
        raise NotImplementedError

    loglikelihood_rolling = loglikelihood


prompts, folder = sys.argv[1:]
name = json.loads(Path(prompts).read_text(encoding="utf-8").splitlines()[0])["task"]
task = {
    "task": name,
    "dataset_path": "json",
    "dataset_kwargs": {"data_files": {"test": prompts}},
    "test_split": "test",
    "output_type": "generate_until",
    "doc_to_text": "{{prompt}}",
    "doc_to_target": "none",
    "metric_list": [{"metric": "exact_match"}],
    "generation_kwargs": {"until": ["\n"]},
}
# JSON is YAML.
Path(folder, f"{name}.yaml").write_text(json.dumps(task), encoding="utf-8")
sys.argv[1:] = ["run", "--model", "by-length", "--tasks", name, "--include_path", folder]
sys.argv += ["--log_samples", "--output_path", folder]
cli_evaluate()
