"""Inspect runs exported prompts with its mock model; in the tools' environment: PROMPTS FOLDER."""

import json
import sys
from pathlib import Path

from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessage, ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import includes
from inspect_ai.solver import generate

LABELS = ["negative", "positive"]


def answer(messages: list[ChatMessage], *_others: object) -> ModelOutput:
    """A label that follows from the length of the prompt alone."""
    output = ModelOutput.from_content("mockllm/model", LABELS[len(messages[-1].text) % 2])
    output.usage = ModelUsage()  # else it counts tokens, with a vocabulary from outside
    return output


prompts, folder = sys.argv[1:]
lines = [json.loads(line) for line in Path(prompts).read_text(encoding="utf-8").splitlines()]
task = Task(
    name=lines[0]["task"],
    dataset=[Sample(id=line["id"], input=line["prompt"], target="none") for line in lines],
    solver=generate(),
    scorer=includes(),
)
model = get_model("mockllm/model", custom_outputs=answer)
[log] = eval(task, model=model, log_dir=folder, log_format="json", display="none")
sys.exit(str(log.error) if log.error else 0)
