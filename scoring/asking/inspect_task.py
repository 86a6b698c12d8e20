"""The prompts of `manage.py export_prompts` as a task of Inspect, which runs it by itself:

    manage.py export_prompts --benchmark NAME --task SLUG --shots 10 --output prompts.jsonl
    inspect eval scoring/asking/inspect_task.py -T prompts=$PWD/prompts.jsonl --model MODEL
    manage.py import_runs logs/….eval

It has no scorer: the gold stays with Baseliner, which scores the log as it scores people.
"""

import json
from pathlib import Path
from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
)
from inspect_ai.solver import generate

MESSAGES = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}
# What a prompt shows stands in the sample's input already.
SHOWN = ("prompt", "messages")


@task
def baseliner(prompts: str) -> Task:
    path = Path(prompts)
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    asked = [line for line in lines if line.get("role") != "training"]
    return Task(
        name=asked[0]["task"] if asked else path.stem,
        dataset=MemoryDataset([sample_of(line) for line in asked], name=path.stem),
        solver=generate(),
        config=GenerateConfig(temperature=0, max_tokens=1024),
    )


def sample_of(line: dict[str, Any]) -> Sample:
    """Its metadata bring the fields of the prompt back, so that the import knows the run."""
    fields = {name: value for name, value in line.items() if name not in SHOWN}
    return Sample(id=line["id"], input=input_of(line), metadata=fields)


def input_of(line: dict[str, Any]) -> str | list[ChatMessage]:
    if "messages" not in line:
        return str(line["prompt"])
    return [MESSAGES[message["role"]](content=message["content"]) for message in line["messages"]]
