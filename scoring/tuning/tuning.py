"""Tuning: each shot set or episode in its turn, and what the tuned model answered as a run.

A set is stored when it is answered, in one transaction, so that what was interrupted goes on with
the first set that has no run yet.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from math import inf
from time import monotonic
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from annotation.models.errors import BadInput
from scoring.models import Run
from scoring.models.run import RunQuerySet
from scoring.prompts.prompting import PromptSet, Subject, test_set_of
from scoring.runs.formats import records
from scoring.runs.joining import ItemFinder
from scoring.runs.scores import keep_scores
from scoring.runs.storing import StoredAlready, storable_answer, store_run
from scoring.tuning.settings import DEFAULTS

FORMAT = "finetune_model"
# In the report of a run: all that decides what is answered, and what happened.
TUNING, TUNED, LIMIT = "tuning", "tuned", "limit"


@dataclass(frozen=True)
class Plan:
    subject: Subject
    # How many test examples of each set; None: all.
    limit: int | None
    # A TunedModel of scoring.tuning.tuned_models, which needs libraries that may not be there.
    model: Any
    # System, method and what else is said of the runs.
    fields: records.RunFields
    # Settings, weights and all else that decides what is answered.
    tuning: dict[str, Any]
    validation_split: int | None
    source_name: str
    owner: User | None = None

    def fields_of(self, prompts: PromptSet) -> records.RunFields:
        """Chosen with a validation set is another system than one that had the shots alone."""
        fields = records.over(self.fields, records.run_fields(prompts.fields))
        if self.validation_split is None:
            return fields
        system = f"{fields.system}, validated on split {self.validation_split}"
        return replace(fields, system=system)

    def runs_of(self, prompts: PromptSet) -> RunQuerySet:
        fields = self.fields_of(prompts)
        names = ("system", "method", "split", "repeat", "episode")
        same = {name: getattr(fields, name) for name in names}
        same |= {"shots": records.stored_shots(fields), "source_format": FORMAT}
        return Run.objects.complete().filter(test_set=test_set_of(prompts), **same)


@dataclass(frozen=True)
class Step:
    """One set: to do, done already, or left out for a reason."""

    # Those of its prompts, which are too many to hold for all sets.
    fields: Mapping[str, Any]
    run: Run | None = None
    left_out: str = ""


def tuned_models() -> Any:
    """The module that tunes: torch and transformers are an optional requirement, and only what is
    imported here needs them. Raises BadInput where they are not installed."""
    try:
        return import_module("scoring.tuning.tuned_models")
    except ModuleNotFoundError as error:
        raise BadInput(
            f"Tuning needs torch and transformers, and {error.name} is not installed: "
            "pip install -r requirements-models.txt."
        ) from error


def steps(plan: Plan) -> list[Step]:
    """Raises BadInput if there are none, or where a set has a run with other settings."""
    chosen = []
    for prompts in plan.subject.prompt_sets(skips_tasks=True):
        left_out = _why_left_out(plan, prompts)
        run = None if left_out else _run_there(plan, prompts)
        chosen.append(Step(prompts.fields, run, left_out))
    if not chosen:
        raise BadInput("There are no such sets: choose other shots, splits or episodes.")
    return chosen


def tune(
    plan: Plan, step: Step, *, progress: Callable[[int, int, float], None]
) -> tuple[Run, Sequence[str]]:
    """Returns the run, with what should be known of it."""
    began = monotonic()
    prompts, split = plan.subject.set_of(step.fields), plan.validation_split
    prompts = replace(prompts, test=prompts.test[: plan.limit])
    # The shots of the same number in another split.
    validation = [] if split is None else [plan.subject.set_of({**step.fields, "split": split})]
    tuner = plan.model.tuner_for(prompts)
    answers, fitted, notes = tuner.answer(validation=validation, progress=progress)
    if "best_epoch" in fitted:
        notes.append(
            f"epoch {fitted['best_epoch']} chosen by the loss on split {split}, "
            "which a system without validation does not see"
        )
    tuned = {"way": tuner.name, "seconds": round(monotonic() - began, 1), **fitted}
    try:
        run = _store(plan, prompts, answers, notes, {**tuned, **plan.model.machine})
    except StoredAlready as error:
        return error.run, [str(error)]
    keep_scores([run])
    return run, notes


@transaction.atomic
def _store(
    plan: Plan,
    prompts: PromptSet,
    answers: Mapping[str, tuple[str, ...]],
    notes: Sequence[str],
    tuned: Mapping[str, Any],
) -> Run:
    items = ItemFinder(test_set_of(prompts))
    line = prompts.line(plan.tuning["format"], prompts.test[0], {})
    how = {name: line[name] for name in records.PROMPT_PROVENANCE if name in line}
    run = store_run(
        items.item_set,
        plan.fields_of(prompts),
        {items.find(key): storable_answer(pieces) for key, pieces in answers.items()},
        {"notes": notes, "prompts": how, TUNING: plan.tuning, TUNED: tuned},
        source_format=FORMAT,
        source_name=plan.source_name,
        owner=plan.owner,
    )
    # What was asked of fewer examples would count twice.
    plan.runs_of(prompts).filter(owner=plan.owner).exclude(pk=run.pk).replaceable().delete()
    return run


def _why_left_out(plan: Plan, prompts: PromptSet) -> str:
    try:
        plan.model.kind_for(prompts)
    except BadInput as error:
        return str(error)
    if plan.validation_split is None:
        return ""
    split = prompts.fields.get("split")
    if split is None:
        return "it has no splits, of which one could be for validation"
    return "it is the validation set" if split == plan.validation_split else ""


def _run_there(plan: Plan, prompts: PromptSet) -> Run | None:
    for run in plan.runs_of(prompts):
        tuned = run.report.get(TUNING, {})
        if other := _difference(tuned, plan.tuning):
            raise BadInput(
                f"“{run.system}” has run {run.pk} on {run.task.slug}, {run.label}, with other "
                f"settings ({other}): give this one another --system."
            )
        if (tuned.get(LIMIT) or inf) >= (plan.limit or inf):  # asked at least as much
            return run
    return None


def _difference(then: dict[str, Any], now: dict[str, Any]) -> str:
    """The first that differs, besides the number of examples that were asked. A run of an earlier
    version lacks the settings that came later, and was made as their defaults say."""
    before, after = ({**DEFAULTS, **one.get("settings", {}), **one} for one in (then, now))
    for name in dict.fromkeys([*after, *before]):
        was, will_be = before.get(name), after.get(name)
        if name not in (LIMIT, "settings") and was != will_be:
            return f"{name} {was}, now {will_be}"
    return ""
