"""Which model is asked what, and how: the prompts, and the run that a set of them fills: what of it
has been answered already, what comes in, and what is stored of it in the end.

A run that was interrupted is taken up where it ended; one with the same prompts and settings is
not asked again. Every reply is stored with its prediction, so nothing that was paid for is lost.
Keys come from the environment, and go nowhere: not even what an endpoint says may repeat one.
"""

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from hashlib import sha256
from math import inf
from typing import Any
from urllib.parse import urlsplit

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Max, Min, Q, Sum

from annotation.jobs.pacing import write
from annotation.kinds.replies import last_answer
from annotation.models.errors import BadInput
from annotation.models.texts import storable
from scoring.asking import ranking
from scoring.models import Method, Prediction, Reply, Run
from scoring.prompts.formats import UNIFEW, Templates, writer_of
from scoring.prompts.prompting import PromptSet, Subject, test_set_of
from scoring.runs import storing
from scoring.runs.formats.records import PROMPT_PROVENANCE, RUN_KEYS, run_fields
from scoring.runs.import_report import Counts, form_in_words
from scoring.runs.importing import ImportedRun
from scoring.runs.joining import ItemFinder
from scoring.runs.scores import keep_scores

# By which an endpoint of one's own is reached; its key is <ENDPOINT>_API_KEY.
ENDPOINT = "endpoint"
KEY_OF_ENDPOINT = "ENDPOINT_API_KEY"
# Many local servers ask for none, but a client does.
NO_KEY = "none"
# A model that transformers reads, by its folder or a hub's name.
LOCAL = "hf/"
MILLION = 1_000_000
# Behind the name of a system.
REASONED = "with reasoning"
# Secrets in the environment, and how much of a message is kept.
SECRETS = re.compile(r"KEY|TOKEN|SECRET|PASSWORD", re.IGNORECASE)
SHORTEST_SECRET = 6
LONGEST_MESSAGE = 500


@dataclass(frozen=True)
class ModelSettings:
    """`model` is Inspect's name, or with `base_url` what the endpoint calls it."""

    model: str
    base_url: str = ""
    # Texts as they are, without a chat template.
    completions: bool = False
    # How a choice is answered: one of ranking.WAYS.
    answers: str = ranking.TEXT
    # Whether it is told to think first.
    reasoning: bool = False
    # What the system is called, where that is not the model's name.
    system: str = ""
    temperature: float = 0.0
    seed: int = 0
    max_tokens: int = 1024
    # What does not change the answers.
    connections: int = 10
    retries: int = 5
    cache: bool = False
    # Of a million tokens read and written, in USD.
    prices: tuple[float, float] | None = None
    # In USD, of one request.
    budget: float | None = None

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> "ModelSettings":
        said = {field.name: values[field.name] for field in fields(cls) if field.name in values}
        return cls(**{**said, "prices": tuple(said["prices"]) if said.get("prices") else None})

    def cost(self, read: int, written: int) -> float | None:
        """The cost of so many tokens; None where it is not known."""
        if self.prices is None:
            return None
        return (self.prices[0] * read + self.prices[1] * written) / MILLION

    @property
    def provider(self) -> str:
        if self.base_url:
            return urlsplit(self.base_url).netloc
        return self.model.partition("/")[0]

    @property
    def inspect_name(self) -> str:
        if not self.base_url:
            return self.model
        api = "openai-api-completions" if self.completions else "openai-api"
        return f"{api}/{ENDPOINT}/{self.model}"

    def answering(self) -> dict[str, Any]:
        """What its answers depend on: the same settings are not asked the same again."""
        names = ("model", "base_url", "completions", "temperature", "seed", "max_tokens")
        # What came later is left out where it is as before, so that older runs are taken up.
        as_before = {"answers": ranking.TEXT, "reasoning": False, "system": ""}
        changed = {
            n: getattr(self, n) for n, value in as_before.items() if getattr(self, n) != value
        }
        return {name: getattr(self, name) for name in names} | changed

    @property
    def name_of_system(self) -> str:
        parts = (self.system or self.model, ranking.WAYS[self.answers], REASONED * self.reasoning)
        return ", ".join(filter(None, parts))

    def check(self) -> None:
        """Raise BadInput for what cannot be asked."""
        address = urlsplit(self.base_url)
        if self.base_url and (address.scheme not in ("http", "https") or not address.hostname):
            raise BadInput(f"“{self.base_url}” is not an address such as http://127.0.0.1:8080/v1.")
        if "@" in address.netloc or address.query:
            raise BadInput(
                "An address is stored with the run, so it may hold no key: set the environment's "
                f"{KEY_OF_ENDPOINT} instead."
            )
        if not self.base_url and "/" not in self.model:
            raise BadInput(
                f"“{self.model}” names no provider: write it as Inspect does, such as "
                "openai/gpt-4o-mini, or give the endpoint's address with --base-url."
            )
        if not self.base_url and self.completions:
            raise BadInput(
                "Plain completions are for an endpoint given with --base-url; a model of vLLM is "
                "named vllm-completions/…."
            )
        is_open = self.base_url or self.model.startswith(LOCAL)
        if self.answers != ranking.TEXT and not is_open:
            raise BadInput(
                "Options are ranked by an endpoint that gives log-probabilities (--base-url) or by "
                f"a model that transformers reads ({LOCAL}FOLDER); {self.model} is neither."
            )
        if self.reasoning and self.answers != ranking.TEXT:
            raise BadInput(
                "A model that ranks options writes no reasoning: leave one of the two out."
            )
        amounts = [*(self.prices or ()), *([] if self.budget is None else [self.budget])]
        if not all(0 <= amount < inf for amount in amounts) or self.budget == 0:
            raise BadInput("A price is at least 0 USD, and a budget more than 0 USD.")
        if self.budget is not None and self.prices is None:
            raise BadInput(
                "A budget is kept by the prices of a million tokens, which are not known."
            )
        if self.max_tokens < 1 or self.connections < 1 or self.retries < 0 or self.temperature < 0:
            raise BadInput(
                "Longest answer and connections must be at least 1, retries and temperature at "
                "least 0."
            )


def without_secrets(text: str) -> str:
    """The text, shortened, with whatever the environment keeps secret left out."""
    for name, value in os.environ.items():
        if SECRETS.search(name) and len(value) >= SHORTEST_SECRET:
            text = text.replace(value, "…")
    return text if len(text) <= LONGEST_MESSAGE else f"{text[:LONGEST_MESSAGE]}…"


# `pairs` shows no shots, and is for fine-tuning.
FORMATS = ("icl", UNIFEW, "chat")
FORMAT = "run_model"
# In the report of a run.
ASKED = "asked"
CUT_OFF = "max_tokens"
Line = dict[str, Any]


@dataclass(frozen=True)
class Prompts:
    """What is asked: the test prompts of a subject, in a wording."""

    subject: Subject
    form: str = FORMATS[0]
    templates: Templates | None = None

    def sets(self, settings: ModelSettings) -> Iterator[tuple[PromptSet, list[Line]]]:
        """Yields the sets with what is written for each option where options are ranked."""
        write = writer_of(self.form, self.templates)
        if settings.completions and self.form == "chat":
            raise BadInput("Plain completions take one text: leave chat or completions out.")
        if settings.reasoning and self.form == UNIFEW:
            raise BadInput("UniFew's questions leave no room for reasoning: use another format.")
        for plain in self.subject.prompt_sets():
            prompts = replace(plain, reasons=settings.reasoning)
            way = ranking.way_of(prompts.kind, settings.answers)
            if self.form == UNIFEW and prompts.training:
                raise BadInput(
                    "The format unifew shows each example by itself, without shots, so only "
                    "zero-shot sets are asked with it: add --shots 0, or tune a model on the shots."
                )
            lines = tests_of(write(prompts))
            if way != ranking.TEXT:
                lines = [ranking.with_options(line, prompts) for line in lines]
            if way == ranking.CALIBRATED:
                emptied = [write(empty) for empty in ranking.content_free(prompts)]
                of_each = zip(*(tests_of(some) for some in emptied), strict=True)
                for line, free in zip(lines, of_each, strict=True):
                    line[ranking.CONTENT_FREE] = [one["prompt"] for one in free]
            yield prompts, lines


def tests_of(lines: Iterable[Line]) -> list[Line]:
    return [line for line in lines if line["role"] == "test"]


def content_of(line: Line) -> Any:
    return line["messages"] if "messages" in line else line["prompt"]


class AskedRun:
    """The run of a set of prompts: what earlier runs of the same prompts to the same model in the
    same way hold of it, and which prompts are `missing`, by example."""

    run: Run

    def __init__(
        self,
        prompts: PromptSet,
        lines: Sequence[Line],
        settings: ModelSettings,
        *,
        owner: User | None,
        limit: int | None,
    ) -> None:
        self.prompts, self.lines, self.settings, self.owner = prompts, lines, settings, owner
        self.way = ranking.way_of(prompts.kind, settings.answers)
        self.items = ItemFinder(test_set_of(prompts))
        # Over the ids and contents of the prompts.
        self.checksum = _sha256([[line["id"], content_of(line)] for line in lines])
        self.key = _sha256([self.checksum, settings.answering()], sort_keys=True)
        # Complete ones before the open one.
        stored = Run.objects.filter(test_set=self.items.item_set, source_format=FORMAT, owner=owner)
        self.earlier = stored.filter(report__asked__key=self.key).order_by("state", "pk")
        self.known: dict[int, Prediction] = {}
        for run in self.earlier:
            for prediction in run.predictions.select_related("reply"):
                self.known.setdefault(prediction.example_id, prediction)
        asked = {self.items.find(line["example"]): line for line in lines[:limit]}
        self.missing = {pk: line for pk, line in asked.items() if pk not in self.known}

    @property
    def in_words(self) -> str:
        return f"{self.run.task.slug}, {self.run.label}"

    def open(self) -> None:
        runs = list(self.earlier)
        taken = next(reversed([run for run in runs if not run.is_complete] or runs), None)
        if taken is None or (taken.is_complete and self.missing):
            taken = self._opened()
        self.run = taken
        if not self.run.is_complete:
            self._copy()

    def take(self, replies: Mapping[int, Reply]) -> None:
        read = {
            pk: storing.storable_answer(self._answer(reply.text, self.missing[pk]))
            for pk, reply in replies.items()
        }

        def store() -> None:
            storing.add_predictions(self.run, read)
            self._keep_replies(replies)

        write(store)
        for pk in read:
            self.missing.pop(pk, None)

    def _answer(self, reply: str, line: Line) -> tuple[str, ...]:
        if self.way != ranking.TEXT:
            return ranking.chosen(reply, line, self.way)
        said = last_answer(reply) if self.settings.reasoning else reply
        return storing.pieces_of(said, self.prompts.kind, line)

    def finish(self, client: str) -> ImportedRun:
        """The complete run, or the one that says exactly the same."""
        begun = self.run.report
        asked = {**begun[ASKED], **self._told(), "client": client}
        notes = [f"{asked['cut_off']} answers were cut off after {asked['max_tokens']} tokens"]
        report = {
            **Counts().as_plain(),
            "notes": notes if asked["cut_off"] else [],
            "prompts": begun["prompts"],
            ASKED: asked,
        }
        try:
            storing.finish_run(self.run, report=report)
        except storing.StoredAlready as error:
            self.run.delete()
            return ImportedRun(error.run, is_new=False)
        keep_scores([self.run])
        self._take_the_place_of_parts()
        counts = Counts(matched=self.run.report["matched"], missing=self.run.report["missing"])
        forms = form_in_words(self.run.report, self.items.item_set.choices)
        return ImportedRun(self.run, counts, (*report["notes"], *forms))

    @transaction.atomic
    def _opened(self) -> Run:
        said = {name: self.prompts.fields.get(name) for name in RUN_KEYS}
        first, settings = self.lines[0], self.settings
        said |= {"system": settings.name_of_system, "method": Method.ICL}
        # Another seed is another run, also where it says the same.
        fields = run_fields({**said, "repeat": settings.seed or None})
        about: dict[str, Any] = {"source_format": FORMAT, "source_name": settings.model}
        whole = self.items.item_set
        run = storing.open_run(test_set=whole, fields=fields, owner=self.owner, **about)
        how = {name: first[name] for name in PROMPT_PROVENANCE if name in first}
        asked = {"key": self.key, **settings.answering(), "provider": settings.provider}
        asked["answers"] = self.way
        run.report = {"prompts": {**how, "checksum": self.checksum}, ASKED: asked}
        run.save(update_fields=["report"])
        return run

    @transaction.atomic
    def _copy(self) -> None:
        """Take over what a complete run on some of the prompts was told."""
        former = {pk: p for pk, p in self.known.items() if p.run_id != self.run.pk}
        storing.add_predictions(self.run, {pk: tuple(p.answer) for pk, p in former.items()})
        self._keep_replies({pk: prediction.reply for pk, prediction in former.items()})

    def _take_the_place_of_parts(self) -> None:
        """Complete runs of fewer prompts, whose answers this one took over, would count twice."""
        answered = self.run.predictions.values("example_id")
        same = Run.objects.complete().filter(report__asked__key=self.key, owner=self.owner)
        for part in same.exclude(pk=self.run.pk).replaceable():
            if not part.predictions.exclude(example_id__in=answered).exists():
                part.delete()

    def _keep_replies(self, replies: Mapping[int, Reply]) -> None:
        """Store replies where there is none yet."""
        without = self.run.predictions.filter(reply=None, example_id__in=list(replies))
        Reply.objects.bulk_create(
            Reply(
                prediction_id=pk,
                text=storable(replies[example].text),
                version=storable(replies[example].version)[:200],
                stop_reason=replies[example].stop_reason[:40],
                input_tokens=replies[example].input_tokens,
                output_tokens=replies[example].output_tokens,
            )
            for example, pk in without.values_list("example_id", "pk")
        )

    def _told(self) -> dict[str, Any]:
        """Gather it from the replies, so that it is whole however often the run was interrupted."""
        replies = Reply.objects.filter(prediction__run=self.run)
        sums = replies.aggregate(
            first=Min("created_at"),
            last=Max("created_at"),
            input_tokens=Sum("input_tokens", default=0),
            output_tokens=Sum("output_tokens", default=0),
            cut_off=Count("pk", filter=Q(stop_reason=CUT_OFF)),
        )
        return {
            "from": sums.pop("first").isoformat(),
            "to": sums.pop("last").isoformat(),
            **sums,
            "versions": sorted(set(replies.values_list("version", flat=True))),
            "cost": self.settings.cost(sums["input_tokens"], sums["output_tokens"]),
        }


def _sha256(said: Any, *, sort_keys: bool = False) -> str:
    written = json.dumps(said, ensure_ascii=sort_keys, sort_keys=sort_keys)
    return sha256(written.encode()).hexdigest()
