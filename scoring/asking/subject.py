"""What is asked: the test prompts of a benchmark's item sets, or of a study's frozen batches."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from annotation.models import Benchmark, Study
from annotation.models.errors import BadInput
from scoring.prompts.material import PromptSet
from scoring.prompts.prompting import Wanted, prompt_sets, prompt_sets_of_study
from scoring.prompts.unifew import Templates
from scoring.prompts.writers import UNIFEW, writer_of
from scoring.runs.storing import find_task

# `pairs` shows no shots, and is for fine-tuning.
FORMATS = ("icl", "unifew", "chat")

Line = dict[str, Any]


@dataclass(frozen=True)
class Subject:
    benchmark: Benchmark
    study: Study | None = None
    # Slugs; none: all.
    tasks: tuple[str, ...] = ()
    wanted: Wanted = field(default_factory=Wanted)
    form: str = "icl"
    templates: Templates | None = None
    seed: int = 0

    def prompt_sets(self) -> Iterator[PromptSet]:
        """One by one, since a benchmark's texts need not fit into the memory."""
        if self.study is not None and self.study.benchmark_id != self.benchmark.pk:
            raise BadInput(
                f"The study {self.study.slug} is not on the benchmark {self.benchmark.name}."
            )
        for prompts in self._sets():
            if self.form == UNIFEW and prompts.training:
                raise BadInput(
                    "The format unifew shows each example by itself, without shots, so only "
                    "zero-shot sets are asked with it: add --shots 0, or tune a model on the shots."
                )
            yield prompts

    def lines(self, prompts: PromptSet) -> list[Line]:
        """The prompts of a set that are asked: those of its test examples."""
        write = writer_of(self.form, self.templates)
        return [line for line in write(prompts) if line["role"] == "test"]

    def _sets(self) -> Iterator[PromptSet]:
        for task in self.tasks or self._all_tasks():
            if self.study is not None:
                yield from prompt_sets_of_study(
                    self.study, task=task, wanted=self.wanted, seed=self.seed
                )
            else:
                found = find_task(self.benchmark, task)
                yield from prompt_sets(found, wanted=self.wanted, seed=self.seed)

    def _all_tasks(self) -> list[str]:
        if self.study is not None:
            return [""]  # whatever tasks it has
        tasks = list(self.benchmark.tasks.order_by("slug").values_list("slug", flat=True))
        if not tasks:
            raise BadInput(f"The benchmark {self.benchmark.name} has no tasks.")
        return tasks


def content_of(line: Line) -> Any:
    """What the model is shown of a line."""
    return line["messages"] if "messages" in line else line["prompt"]


def checksum_of(lines: list[Line]) -> str:
    """SHA-256 over the ids and contents of prompts."""
    said = [[line["id"], content_of(line)] for line in lines]
    return sha256(json.dumps(said, ensure_ascii=False).encode()).hexdigest()
