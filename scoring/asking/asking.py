"""Asking a model: every prompt once, a few at a time, each answer stored as it comes.

Whoever stops it loses nothing: what is under way is waited for, and the same request made again
asks only what is missing.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from importlib import import_module
from itertools import islice
from typing import Protocol

from django.contrib.auth.models import User
from django.template.defaultfilters import pluralize

from annotation.models.errors import BadInput, Refusal
from scoring.asking.asked_runs import (
    AskedRun,
    Line,
    Prompts,
    asked_run,
    content_of,
    known_answers,
)
from scoring.asking.settings import Answered, ModelSettings, without_secrets
from scoring.prompts.prompting import test_set_of
from scoring.runs.import_report import counts_of
from scoring.runs.importing import ImportedRun
from scoring.runs.joining import ItemFinder

INSTALL = "pip install -r requirements-models.txt"
# How long to wait for an answer before saying that one is still at work.
TICK_S = 1.0
# How long a stopped request waits for what is under way.
GRACE_S = 30.0
# So many in a row, and none before them answered: the model cannot be reached.
MOST_FAILURES = 10


class NoAnswers(Refusal):
    """The model answers nothing."""


@dataclass
class Tally:
    """Over all runs of one request."""

    total: int
    # Already there when it began.
    known: int = 0
    answered: int = 0
    read: int = 0
    written: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    # Why nothing comes at present.
    trouble: str = ""

    @property
    def done(self) -> int:
        return self.known + self.answered

    @property
    def failed(self) -> int:
        return self.failures.total()

    def in_words(self, settings: ModelSettings) -> str:
        words = f"{self.done} of {self.total} answers"
        if self.read or self.written:
            words += f"; {self.read:,} tokens read, {self.written:,} written"
        if settings.prices is not None:
            words += f"; {settings.prices.cost(self.read, self.written):.4f} USD so far"
        if self.trouble:
            words += f"; {self.trouble}"
        return words + (f"; {self.failed} failed" if self.failed else "")


@dataclass
class Outcome:
    tally: Tally
    runs: list[ImportedRun] = field(default_factory=list)
    # With prompts that got no answer.
    unfinished: list[AskedRun] = field(default_factory=list)


class Client(Protocol):
    version: str
    # Why nothing comes, while it tries again; empty once an answer has come.
    trouble: str

    def ask(self, line: Line) -> "Future[Answered]": ...

    def close(self) -> None: ...


Tell = Callable[[Tally, str], None]


def connect(settings: ModelSettings) -> Client:
    """Raises BadInput where Inspect is not installed, or cannot reach the model."""
    settings.check()
    try:
        module = import_module("scoring.asking.inspect_client")
    except ModuleNotFoundError as error:
        raise BadInput(
            f"Models are asked by Inspect AI, and {error.name} is not installed: {INSTALL}"
        ) from error
    client: Client = module.InspectClient(settings)
    return client


def ask_model(
    prompts: Prompts,
    settings: ModelSettings,
    *,
    owner: User | None = None,
    limit: int | None = None,
    tell: Tell,
) -> Outcome:
    """Ask what is missing, and store a run for each set of prompts. `tell` hears about once a
    second how far it is, and may raise to stop it."""
    sizes = (len(lines[:limit]) for _, lines in prompts.sets())
    outcome = Outcome(Tally(sum(sizes)))
    client = connect(settings)
    try:
        _Asking(prompts, settings, owner, limit, tell, client, outcome).run()
    finally:
        client.close()
    return outcome


@dataclass
class _Asking:
    prompts: Prompts
    settings: ModelSettings
    owner: User | None
    limit: int | None
    tell: Tell
    client: Client
    outcome: Outcome
    # What has been asked and not yet answered, by example; of one run at a time.
    under_way: dict["Future[Answered]", int] = field(default_factory=dict)
    failed_in_a_row: int = 0

    def run(self) -> None:
        for prompts, lines in self.prompts.sets():
            asked = asked_run(prompts, lines, self.settings, owner=self.owner, limit=self.limit)
            self.outcome.tally.known += len(lines[: self.limit]) - len(asked.missing)
            try:
                self._ask(asked)
            except BaseException:
                self._wait_for_the_rest(asked)
                raise
            self._end(asked)

    def _ask(self, asked: AskedRun) -> None:
        self.tell(self.outcome.tally, asked.in_words)
        questions = iter(list(asked.missing.items()))
        while self._fill(questions):
            done, _ = wait(self.under_way, timeout=TICK_S, return_when=FIRST_COMPLETED)
            self._take(asked, done)
            self._check_reach()
            self.outcome.tally.trouble = self.client.trouble
            self.tell(self.outcome.tally, asked.in_words)
        self.outcome.tally.trouble = ""

    def _fill(self, questions: Iterator[tuple[int, Line]]) -> bool:
        """Whether anything is under way."""
        free = self.settings.connections - len(self.under_way)
        for example, line in islice(questions, free):
            self.under_way[self.client.ask(line)] = example
        return bool(self.under_way)

    def _take(self, asked: AskedRun, done: Iterable["Future[Answered]"]) -> None:
        answers: list[tuple[int, Answered]] = []
        tally = self.outcome.tally
        for future in done:
            example = self.under_way.pop(future)
            if future.cancelled() or future.exception() is not None:
                tally.failures[_reason(future)] += 1
                self.failed_in_a_row += 1
            else:
                answers.append((example, future.result()))
        if not answers:
            return
        asked.take(answers)
        self.failed_in_a_row = 0
        for _, answered in answers:
            tally.answered += 1
            tally.read += answered.input_tokens or 0
            tally.written += answered.output_tokens or 0

    def _check_reach(self) -> None:
        if self.failed_in_a_row >= MOST_FAILURES:
            [(reason, _)] = self.outcome.tally.failures.most_common(1)
            raise NoAnswers(
                f"{self.settings.model} failed {self.failed_in_a_row} times in a row, so no more "
                f"was asked: {reason}"
            )

    def _end(self, asked: AskedRun) -> None:
        if asked.missing:
            self.outcome.unfinished.append(asked)
        elif asked.run.is_complete:
            counts = counts_of(asked.run.report)
            self.outcome.runs.append(ImportedRun(asked.run, counts, (), is_new=False))
        else:
            self.outcome.runs.append(asked.finish(self.settings, self.client.version))

    def _wait_for_the_rest(self, asked: AskedRun) -> None:
        """It has been asked, and is paid for."""
        done, _ = wait(self.under_way, timeout=GRACE_S)
        self._take(asked, done)


def _reason(future: "Future[Answered]") -> str:
    if future.cancelled():
        return "stopped"
    error = future.exception()
    return without_secrets(f"{type(error).__name__}: {error}")


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
        _, known = known_answers(test_set, lines, settings, owner=owner)
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
