"""Inspect runs our task file with its mock model and a scorer of its own; in the tools'
environment: PROMPTS FOLDER REPLIES. A prompt's “target” is here for the tool alone."""

import json
import runpy
import sys
from pathlib import Path

from inspect_ai import eval
from inspect_ai.model import ChatMessage, ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import exact

TASK = Path(__file__).parents[2] / "scoring" / "asking" / "inspect_task.py"


def answer(messages: list[ChatMessage], *_others: object) -> ModelOutput:
    """A reply that follows from the length of the prompt alone."""
    reply = REPLIES[len(messages[-1].text) % len(REPLIES)]
    output = ModelOutput.from_content("mockllm/model", reply)
    output.usage = ModelUsage()  # else it counts tokens, with a vocabulary from outside
    return output


prompts, folder, replies = sys.argv[1:]
REPLIES = json.loads(replies)
task = runpy.run_path(str(TASK))["baseliner"](prompts)
rows = map(json.loads, Path(prompts).read_text(encoding="utf-8").splitlines())
targets = {row["id"]: row["target"] for row in rows}
for sample in task.dataset:
    sample.target = targets[sample.id]
task.scorer = [exact()]
model = get_model("mockllm/model", custom_outputs=answer)
[log] = eval(task, model=model, log_dir=folder, display="none")
if log.error or log.results is None:
    sys.exit(str(log.error))
Path(folder, "figure").write_text(str(log.results.scores[0].metrics["mean"].value))
