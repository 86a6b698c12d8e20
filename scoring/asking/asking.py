"""Asking a model: every prompt once, a few at a time, each answer stored as it comes.

Whoever stops it loses nothing: what is under way is waited for, and the same request made again
asks only what is missing.
"""

from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING

from django.contrib.auth.models import User
from django.template.defaultfilters import pluralize

from annotation.jobs.pacing import write
from annotation.models.errors import BadInput, Refusal
from scoring.asking import asked_runs, ranking
from scoring.models import Reply, Spending
from scoring.runs.import_report import counts_of
from scoring.runs.importing import ImportedRun

if TYPE_CHECKING:  # Inspect is an optional requirement
    from scoring.asking.inspect_client import InspectClient
    from scoring.asking.likelihood import LikelihoodClient

    Client = InspectClient | LikelihoodClient

INSTALL = (
    "pip install -r requirements-asking.txt, or for models in folders requirements-models.txt."
)
# How long to wait for an answer before saying that one is still at work.
TICK_S = 1.0
# How long a stopped request waits for what is under way.
GRACE_S = 30.0
# So many in a row, and none before them answered: the model cannot be reached.
MOST_FAILURES = 10


class OverBudget(Refusal):
    """What is left does not pay for another prompt."""


@dataclass
class Tally:
    """Counts what all runs of one request took."""

    total: int
    # With what was already there when it began.
    done: int = 0
    answered: int = 0
    read: int = 0
    written: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    # Why nothing comes at present.
    trouble: str = ""
    runs: list[ImportedRun] = field(default_factory=list)
    # With prompts that got no answer.
    unfinished: list[asked_runs.AskedRun] = field(default_factory=list)

    def in_words(self, settings: asked_runs.ModelSettings) -> str:
        cost, budget = settings.cost(self.read, self.written), settings.budget
        most = "" if budget is None else f" of {budget:g}"
        tokens = f"{self.read:,} tokens read, {self.written:,} written"
        parts = [
            f"{self.done} of {self.total} answers",
            tokens if self.read or self.written else "",
            "" if cost is None else f"{cost:.4f}{most} USD",
            self.trouble,
            f"{self.failures.total()} failed" if self.failures else "",
        ]
        return "; ".join(filter(None, parts))


Tell = Callable[[Tally, str], None]


def connect(settings: asked_runs.ModelSettings, way: str) -> "Client":
    """Raises BadInput where what it takes is not installed, or the model cannot be reached."""
    settings.check()
    try:
        if way == ranking.TEXT:
            client = import_module("scoring.asking.inspect_client").InspectClient
        else:
            client = import_module("scoring.asking.likelihood").LikelihoodClient
        connected: Client = client(settings)
    except ModuleNotFoundError as error:
        raise BadInput(
            f"Models are asked by packages of others, and {error.name} is not installed: {INSTALL}"
        ) from error
    return connected


def ask_model(
    prompts: asked_runs.Prompts,
    settings: asked_runs.ModelSettings,
    *,
    owner: User | None = None,
    limit: int | None = None,
    tell: Tell,
) -> Tally:
    """Ask what is missing, and store a run for each set of prompts. `tell` hears about once a
    second how far it is, and may raise to stop it."""
    tally, ways = Tally(0), dict[str, None]()
    for prompt_set, lines in prompts.sets(settings):
        tally.total += len(lines[:limit])
        ways[ranking.way_of(prompt_set.kind, settings.answers)] = None
    with ExitStack() as stack:
        clients = {way: stack.enter_context(closing(connect(settings, way))) for way in ways}
        spending = Spending(
            benchmark=prompts.subject.benchmark, author=owner, model=settings.model[:200]
        )
        _Asking(settings, tell, clients, tally, spending).run(prompts, owner, limit)
    return tally


@dataclass
class _Asking:
    settings: asked_runs.ModelSettings
    tell: Tell
    # By the way that they are asked.
    clients: "Mapping[str, Client]"
    tally: Tally
    spending: Spending
    # What has been asked and not yet answered, by example, with what it may cost; of one run at a
    # time.
    under_way: dict[Future[Reply], tuple[int, float]] = field(default_factory=dict)
    # By how much a prompt has cost more than was thought.
    dearer: float = 1.0
    failed_in_a_row: int = 0

    def run(self, prompts: asked_runs.Prompts, owner: User | None, limit: int | None) -> None:
        for prompt_set, lines in prompts.sets(self.settings):
            asked = asked_runs.AskedRun(prompt_set, lines, self.settings, owner=owner, limit=limit)
            self.client = self.clients[asked.way]
            asked.open()
            self.tally.done += len(lines[:limit]) - len(asked.missing)
            try:
                self._ask(asked)
            except BaseException:
                # It has been asked, and is paid for.
                done, _ = wait(self.under_way, timeout=GRACE_S)
                self._take(asked, done)
                raise
            self._end(asked)

    def _ask(self, asked: asked_runs.AskedRun) -> None:
        self.tell(self.tally, asked.in_words)
        questions = deque(asked.missing.items())
        while self._fill(questions):
            done, _ = wait(self.under_way, timeout=TICK_S, return_when=FIRST_COMPLETED)
            self._take(asked, done)
            if self.failed_in_a_row >= MOST_FAILURES:
                [(reason, _)] = self.tally.failures.most_common(1)
                raise Refusal(
                    f"{self.settings.model} failed {self.failed_in_a_row} times in a row at "
                    f"{self.settings.base_url or self.settings.provider}, so no more was asked: "
                    f"{reason}"
                )
            self.tally.trouble = self.client.trouble
            self.tell(self.tally, asked.in_words)
        self.tally.trouble = ""

    def _fill(self, questions: deque[tuple[int, asked_runs.Line]]) -> bool:
        """Whether anything is under way. Raises OverBudget where there is no more to pay with."""
        while questions and len(self.under_way) < self.settings.connections:
            most = self.settings.cost(*tokens_of(questions[0][1], self.settings)) or 0.0
            if not self._affords(most):
                break
            example, line = questions.popleft()
            self.under_way[self.client.ask(line)] = example, most
        if questions and not self.under_way:
            so_far = self.tally.in_words(self.settings)
            raise OverBudget(
                f"The budget does not pay for another prompt: {so_far}. What "
                "was answered is stored: run it again with a new budget to ask the rest."
            )
        return bool(self.under_way)

    def _affords(self, most: float) -> bool:
        """Whether the budget holds even if what is under way costs all that it may. The first
        answer is waited for, since its tokens are only guessed before."""
        if self.settings.budget is None:
            return True
        spent = self.settings.cost(self.tally.read, self.tally.written) or 0.0
        reserved = self.dearer * sum([most, *(cost for _, cost in self.under_way.values())])
        is_known = self.tally.answered > 0 or not self.under_way
        return is_known and spent + reserved <= self.settings.budget

    def _take(self, asked: asked_runs.AskedRun, done: Iterable["Future[Reply]"]) -> None:
        replies: dict[int, Reply] = {}
        for future in done:
            example, most = self.under_way.pop(future)
            if not future.cancelled() and future.exception() is None:
                replies[example] = reply = future.result()
                cost = self.settings.cost(reply.input_tokens or 0, reply.output_tokens or 0)
                self.dearer = max(self.dearer, (cost or 0.0) / (most or 1.0))
                continue
            error = None if future.cancelled() else future.exception()
            why = "stopped" if error is None else f"{type(error).__name__}: {error}"
            self.tally.failures[asked_runs.without_secrets(why)] += 1
            self.failed_in_a_row += 1
        if replies:
            asked.take(replies)
            self.failed_in_a_row = 0
            self._count(replies.values())

    def _count(self, replies: Collection[Reply]) -> None:
        self.tally.done += len(replies)
        self.tally.answered += len(replies)
        self.tally.read += sum(reply.input_tokens or 0 for reply in replies)
        self.tally.written += sum(reply.output_tokens or 0 for reply in replies)
        read, written = self.tally.read, self.tally.written
        self.spending.input_tokens, self.spending.output_tokens = read, written
        self.spending.usd = self.settings.cost(read, written)
        write(self.spending.save)

    def _end(self, asked: asked_runs.AskedRun) -> None:
        if asked.missing:
            self.tally.unfinished.append(asked)
        elif asked.run.is_complete:
            counts = counts_of(asked.run.report)
            self.tally.runs.append(ImportedRun(asked.run, counts, (), is_new=False))
        else:
            self.tally.runs.append(asked.finish(self.client.version))


# Tokens are the model's own; this holds about for English.
CHARACTERS_PER_TOKEN = 4


def estimate(
    prompts: asked_runs.Prompts,
    settings: asked_runs.ModelSettings,
    *,
    owner: User | None = None,
    limit: int | None = None,
) -> tuple[list[str], dict[str, asked_runs.Line]]:
    """Estimate the cost in sentences, and show the first prompt of each task. Asks nobody and
    stores nothing."""
    settings.check()
    runs, count, tokens = 0, 0, list[tuple[int, int]]()
    first: dict[str, asked_runs.Line] = {}
    for prompt_set, lines in prompts.sets(settings):
        asked = asked_runs.AskedRun(prompt_set, lines, settings, owner=owner, limit=limit)
        runs, count = runs + 1, count + len(lines[:limit])
        for line in lines[:1]:
            first.setdefault(line["task"], line)
        # Others were answered by an earlier request with the same prompts and settings.
        tokens += [tokens_of(line, settings) for line in asked.missing.values()]
    read, written = (sum(of_each) for of_each in zip((0, 0), *tokens, strict=True))
    cost = "The cost is not known, since the prices of a million tokens are not."
    if (least := settings.cost(read, 0)) is not None:
        most = settings.cost(read, written)
        cost = f"About {least:.4f} USD to read, and at most {most:.4f} USD in all."
    said = f"{count} prompt{pluralize(count)} in {runs} run{pluralize(runs)}"
    sentences = [
        f"{said}; {len(tokens)} to be asked.",
        f"About {read:,} tokens to read (at four characters a token), and at most {written:,} "
        "to write.",
        cost,
    ]
    return sentences, first


def tokens_of(line: asked_runs.Line, settings: asked_runs.ModelSettings) -> tuple[int, int]:
    """The tokens of a prompt, about how many are read, and how many are written at most; an option
    that is ranked is a prompt of its own."""
    read = round(len(as_text(line)) / CHARACTERS_PER_TOKEN)
    if ranking.WRITTEN not in line:
        return read, settings.max_tokens
    times = 1 + len(line[ranking.WRITTEN])
    return times * read, times


def as_text(line: asked_runs.Line) -> str:
    content = asked_runs.content_of(line)
    if isinstance(content, str):
        return content
    return "\n\n".join(f"[{message['role']}]\n{message['content']}" for message in content)
