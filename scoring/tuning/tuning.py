"""Tuning: each shot set or episode in its turn, and what the tuned model answered as a run.

A set is stored when it is answered, in one transaction, so that what was interrupted goes on with
the first set that has no run yet.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from math import inf
from time import monotonic
from typing import Any, Protocol

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet

from annotation.models import ItemSet
from annotation.models.errors import BadInput
from scoring.models import Run, shots_label
from scoring.prompts.prompting import PromptSet, Subject
from scoring.runs.formats.records import RunFields, over, run_fields, stored_shots
from scoring.runs.joining import ItemFinder
from scoring.runs.scores import keep_scores
from scoring.runs.storing import (
    StoredAlready,
    add_predictions,
    find_task,
    find_test_set,
    finish_run,
    open_run,
    same_answers,
    storable_answer,
)
from scoring.tuning.settings import DEFAULTS

NEEDED = ("torch", "transformers")
FORMAT = "finetune_model"
# In the report of a run: all that decides what is answered, and what happened.
TUNING = "tuning"
TUNED = "tuned"
LIMIT = "limit"


class TunesAndAsks(Protocol):
    """A model that is tuned on a set and asked its test: `scoring.tuning.tuned_models`, which needs
    libraries that may not be there."""

    @property
    def machine(self) -> dict[str, str]: ...

    def check(self, prompts: PromptSet) -> None: ...

    def tuner_for(self, prompts: PromptSet) -> Any: ...


@dataclass(frozen=True)
class Plan:
    subject: Subject
    # How many test examples of each set; None: all.
    limit: int | None
    model: TunesAndAsks
    # System, method and what else is said of the runs.
    fields: RunFields
    # Settings, weights and all else that decides what is answered.
    tuning: dict[str, Any]
    validation_split: int | None
    source_name: str
    owner: User | None = None

    @property
    def system(self) -> str:
        """Chosen with a validation set is another system than one that had the shots alone."""
        if self.validation_split is None:
            return self.fields.system
        return f"{self.fields.system}, validated on split {self.validation_split}"

    def set_of(self, fields: Mapping[str, Any]) -> PromptSet:
        """The one that these fields name."""
        one = replace(
            self.subject,
            shots=[fields["shots"]],
            splits=[] if fields.get("split") is None else [fields["split"]],
            episodes=[] if fields.get("episode") is None else [fields["episode"]],
        )
        prompts = next(found for found in one.of_task(fields["task"]) if found.fields == fields)
        return replace(prompts, test=prompts.test[: self.limit])


@dataclass(frozen=True)
class Step:
    """One set: to do, done already, or left out for a reason."""

    # Those of its prompts, which are too many to hold for all sets.
    fields: Mapping[str, Any]
    run: Run | None = None
    left_out: str = ""


def tuned_models() -> Any:
    """The module that tunes, scoring.tuning.tuned_models: torch and transformers are an optional
    requirement, and only what is imported here needs them. Raises BadInput where they are not
    installed."""
    try:
        for name in NEEDED:
            import_module(name)
    except ImportError as error:
        raise BadInput(
            f"Tuning needs {' and '.join(NEEDED)}, and {error.name} is not installed: "
            "pip install -r requirements-models.txt."
        ) from error
    return import_module("scoring.tuning.tuned_models")


def steps(plan: Plan) -> Iterator[Step]:
    """Raises BadInput if there are none, or where a set has a run of this system with other
    settings."""
    there = False
    for prompts in plan.subject.prompt_sets(skips_tasks=True):
        there = True
        if left_out := _why_left_out(plan, prompts):
            yield Step(prompts.fields, left_out=left_out)
        else:
            yield Step(prompts.fields, run=_run_there(plan, prompts))
    if not there:
        raise BadInput("There are no such sets: choose other shots, splits or episodes.")


def tune(
    plan: Plan, step: Step, *, progress: Callable[[int, int, float], None]
) -> tuple[Run, Sequence[str]]:
    """Tune on the set's shots, ask its test, and store the run; returns it with what should be
    known of it."""
    began = monotonic()
    prompts = plan.set_of(step.fields)
    validation = []
    if plan.validation_split is not None:
        # The shots of the same number in another split.
        validation = [plan.set_of({**step.fields, "split": plan.validation_split})]
    tuner = plan.model.tuner_for(prompts)
    answered = tuner.answer(validation=validation, progress=progress)
    notes = (*answered.notes, *_validation_in_words(plan, answered))
    seconds = round(monotonic() - began, 1)
    happened = {"way": tuner.name, "seconds": seconds, **_fitted(answered)}
    try:
        run = _store(plan, prompts, answered, notes, happened)
    except StoredAlready as error:
        return error.run, [str(error)]
    keep_scores([run])
    return run, notes


def predictions_of(run: Run) -> Iterator[dict[str, Any]]:
    """One line for each, as `import_runs` reads them."""
    fields = {
        "system": run.system,
        "method": run.method,
        "parameters": run.parameters,
        "task": run.task.slug,
        "shots": shots_label(run.shots),
        "split": run.split,
        "episode": run.episode,
    }
    said = {name: value for name, value in fields.items() if value not in ("", None)}
    names = dict(run.test_set.items.values_list("example_id", "source_id"))
    for example, answer in run.predictions.values_list("example_id", "answer"):
        yield {**said, "id": names[example], "prediction": answer}


@transaction.atomic
def _store(
    plan: Plan,
    prompts: PromptSet,
    answered: Any,
    notes: Sequence[str],
    happened: Mapping[str, Any],
) -> Run:
    test_set = _test_set(plan, prompts)
    items = ItemFinder(test_set)
    run = open_run(
        test_set=test_set,
        fields=_fields_of(plan, prompts),
        source_format=FORMAT,
        source_name=plan.source_name,
        owner=plan.owner,
    )
    add_predictions(
        run,
        {items.find(key): storable_answer(pieces) for key, pieces in answered.answers.items()},
    )
    if missing := len(items) - len(answered.answers):
        notes = [*notes, f"partial: {missing} of {len(items)} examples missing"]
    if same := same_answers(run):
        notes = [*notes, f"the same answers as run {same.pk} ({same.label})"]
    finish_run(
        run,
        report={
            "notes": list(notes),
            "prompts": _how(plan, prompts),
            TUNING: plan.tuning,
            TUNED: {**happened, **plan.model.machine},
        },
    )
    # What was asked of fewer examples would count twice.
    _runs_there(plan, prompts).filter(owner=plan.owner).exclude(pk=run.pk).delete()
    return run


def _why_left_out(plan: Plan, prompts: PromptSet) -> str:
    try:
        plan.model.check(prompts)
    except BadInput as error:
        return str(error)
    if plan.validation_split is None:
        return ""
    split = prompts.fields.get("split")
    if split is None:
        return "it has no splits, of which one could be for validation"
    return "it is the validation set" if split == plan.validation_split else ""


def _runs_there(plan: Plan, prompts: PromptSet) -> QuerySet[Run]:
    """Complete ones of this system on this set."""
    fields = _fields_of(plan, prompts)
    return Run.objects.complete().filter(
        test_set=_test_set(plan, prompts),
        system=fields.system,
        method=fields.method,
        shots=stored_shots(fields),
        split=fields.split,
        episode=fields.episode,
        source_format=FORMAT,
    )


def _run_there(plan: Plan, prompts: PromptSet) -> Run | None:
    fields = _fields_of(plan, prompts)
    for run in _runs_there(plan, prompts):
        there = run.report.get(TUNING, {})
        if other := _difference(there, plan.tuning):
            raise BadInput(
                f"“{fields.system}” has run {run.pk} on {run.task.slug}, {run.label}, with other "
                f"settings ({other}): give this one another --system."
            )
        if _asked(there) >= _asked(plan.tuning):
            return run
    return None


def _asked(tuning: Mapping[str, Any]) -> float:
    """At most so many test examples."""
    limit = tuning.get(LIMIT)
    return inf if limit is None else limit


def _difference(there: dict[str, Any], now: dict[str, Any]) -> str:
    """The first that differs, besides the number of examples that were asked. A run of an earlier
    version lacks the settings that came later, and was made as their defaults say."""
    before, after = (
        {**DEFAULTS, **tuning.get("settings", {}), **tuning} for tuning in (there, now)
    )
    for name in dict.fromkeys([*after, *before]):
        was, wanted = before.get(name), after.get(name)
        if name not in (LIMIT, "settings") and was != wanted:
            return f"{name} {was}, now {wanted}"
    return ""


def _fields_of(plan: Plan, prompts: PromptSet) -> RunFields:
    named = {name: value for name, value in prompts.fields.items() if name != "study"}
    return over(replace(plan.fields, system=plan.system), run_fields(named))


def _test_set(plan: Plan, prompts: PromptSet) -> ItemSet:
    task = find_task(plan.subject.benchmark, prompts.fields["task"])
    return find_test_set(task, prompts.fields.get("episode"))


def _how(plan: Plan, prompts: PromptSet) -> dict[str, Any]:
    """As the prompts of an import say how they were made."""
    study = {"study": prompts.fields["study"]} if "study" in prompts.fields else {}
    return {
        **study,
        "format": plan.tuning["format"],
        "seed": prompts.seed,
        "shown": [shot.id for shot in prompts.training],
    }


def _fitted(answered: Any) -> dict[str, Any]:
    fitted = answered.fitted
    if fitted is None:
        return {"steps": 0}
    chosen = {"best_epoch": fitted.best_epoch, "validation_loss": fitted.validation_loss}
    is_chosen = fitted.best_epoch is not None
    return {"steps": fitted.steps, "loss": fitted.loss, **(chosen if is_chosen else {})}


def _validation_in_words(plan: Plan, answered: Any) -> tuple[str, ...]:
    if plan.validation_split is None or answered.fitted is None:
        return ()
    return (
        f"epoch {answered.fitted.best_epoch} chosen by the loss on split {plan.validation_split}, "
        "which a system without validation does not see",
    )
