"""Before anything is asked: which prompts, how many, and about what they come to."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from django.contrib.auth.models import User
from django.template.defaultfilters import pluralize

from scoring.asking.asked_runs import Line, Prompts, content_of, known_answers, test_set_of
from scoring.asking.settings import ModelSettings
from scoring.runs.joining import ItemFinder

# Tokens are the model's own; this holds about for English.
CHARACTERS_PER_TOKEN = 4


@dataclass
class Estimate:
    settings: ModelSettings
    runs: int = 0
    prompts: int = 0
    # Answered by an earlier request with the same prompts and settings.
    known: int = 0
    # Of what is still to be asked.
    characters: int = 0
    # The first prompt of each task.
    first: dict[str, Line] = field(default_factory=dict)

    @property
    def asked(self) -> int:
        return self.prompts - self.known

    @property
    def tokens(self) -> int:
        return round(self.characters / CHARACTERS_PER_TOKEN)

    @property
    def most_written(self) -> int:
        return self.asked * self.settings.max_tokens

    def in_words(self) -> Iterator[str]:
        prompts, runs = pluralize(self.prompts), pluralize(self.runs)
        yield f"{self.prompts} prompt{prompts} in {self.runs} run{runs}; {self.asked} to be asked."
        yield (
            f"About {self.tokens:,} tokens to read (at four characters a token), and at most "
            f"{self.most_written:,} to write."
        )
        prices = self.settings.prices
        if prices is None:
            yield "The cost is not known: give the prices of a million tokens."
        else:
            least, most = prices.cost(self.tokens, 0), prices.cost(self.tokens, self.most_written)
            yield f"About {least:.4f} USD to read, and at most {most:.4f} USD in all."


def estimate(
    prompts: Prompts,
    settings: ModelSettings,
    *,
    owner: User | None = None,
    limit: int | None = None,
) -> Estimate:
    """Asks nobody and stores nothing."""
    settings.check()
    total = Estimate(settings)
    for prompt_set, lines in prompts.sets():
        test_set = test_set_of(prompt_set)
        items = ItemFinder(test_set)
        known = known_answers(test_set, lines, settings, owner=owner).answers
        total.runs += 1
        for line in lines[:limit]:
            total.prompts += 1
            total.first.setdefault(line["task"], line)
            if items.find(line["example"]) in known:
                total.known += 1
            else:
                total.characters += len(as_text(line))
    return total


def as_text(line: Line) -> str:
    """A prompt as somebody reads it."""
    content = content_of(line)
    if isinstance(content, str):
        return content
    return "\n\n".join(f"[{message['role']}]\n{message['content']}" for message in content)
