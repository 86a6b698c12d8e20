"""What prompts are made of: the material of one batch."""

from dataclasses import dataclass
from typing import Any

from scoring.runs.prompt_ids import prompt_id


@dataclass(frozen=True)
class PromptExample:
    # Its own id, as in the test file.
    id: str
    context: tuple[str, ...]
    question: str
    # The texts to choose from, where the kind has any.
    options: tuple[str, ...]
    # Empty for a test example: its gold is not even read.
    answer: tuple[str, ...] = ()


@dataclass(frozen=True)
class PromptSet:
    """A batch's material; `fields` name the run that answers it, as its predictions will."""

    kind: str
    max_spans: int | None
    description: str
    fields: dict[str, Any]
    seed: int
    # In the order given by the seed.
    training: tuple[PromptExample, ...]
    test: tuple[PromptExample, ...]

    def line(
        self, form: str, example: PromptExample, content: dict[str, Any], *, training: bool = False
    ) -> dict[str, Any]:
        """One line of an export: what the prompt belongs to, how it was made, and what it says."""
        options = {"options": list(example.options)} if example.options else {}
        return {
            "id": prompt_id(self.fields, example.id, training=training),
            "example": example.id,
            **self.fields,
            "format": form,
            "seed": self.seed,
            "shown": [shot.id for shot in self.training],
            "role": "training" if training else "test",
            "answer_kind": self.kind,
            **content,
            **options,
        }
