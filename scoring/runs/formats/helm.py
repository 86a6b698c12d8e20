"""A HELM run: the folder with run_spec.json and scenario_state.json.

`max_train_instances` are the shots; each `train_trial_index` is a split, counted from 1. The first
completion counts, mapped by `output_mapping` if there is one. Where the references were weighed one
by one, `predicted_index` in per_instance_stats.json gives the answer.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from annotation.models.errors import BadInput
from scoring.models import Method
from scoring.runs.formats.json_files import read_json, read_members
from scoring.runs.formats.lines import as_id
from scoring.runs.formats.records import (
    Answer,
    LeftOut,
    Read,
    Reader,
    ReadOptions,
    ReadPrediction,
    RunFields,
    as_number,
    read_each,
)

# What looking for a field raises where a tool wrote something else.
MALFORMED = (KeyError, IndexError, TypeError, AttributeError, ValueError, OverflowError)
SEPARATE = "multiple_choice_separate"


# (instance, trial) → the reference that was chosen, where references were weighed apart.
Chosen = dict[tuple[str, int], int]


def fits(path: Path) -> bool:
    names = ("run_spec.json", "scenario_state.json")
    return path.is_dir() and all((path / name).is_file() for name in names)


def read(path: Path, options: ReadOptions) -> Iterator[Read]:
    run, separate = _run(path)
    if options.run.shots is not None:
        run = replace(run, shots=options.run.shots)
    chosen = _predicted(path) if separate else None
    members = read_members(path / "scenario_state.json", arrays={"request_states"})
    states = (state for key, state in members if key == "request_states")
    places = ((f"{path.name}, request {number}", s) for number, s in enumerate(states, start=1))
    return read_each(places, partial(_read_state, run=run, chosen=chosen))


def _run(path: Path) -> tuple[RunFields, bool]:
    """And whether its references were weighed apart."""
    spec = read_json(path / "run_spec.json")
    try:
        adapter = spec["adapter_spec"]
        run = RunFields(
            # A run is named <scenario>:<arguments>.
            task=str(spec["name"]).partition(":")[0],
            system=str(adapter["model"]),
            method=Method.ICL,
            shots=as_number(adapter.get("max_train_instances")),
        )
    except MALFORMED as error:
        raise BadInput(f"{path / 'run_spec.json'} lacks its name or its adapter_spec.") from error
    return run, str(adapter.get("method", "")).startswith(SEPARATE)


def _predicted(path: Path) -> Chosen:
    file = path / "per_instance_stats.json"
    if not file.is_file():
        raise BadInput(
            f"{path} weighed the choices one by one: per_instance_stats.json is needed beside it."
        )
    try:
        return {
            (str(instance["instance_id"]), instance["train_trial_index"]): int(stat["mean"])
            for instance in read_json(file)
            if not instance.get("perturbation")
            for stat in instance["stats"]
            if stat["name"]["name"] == "predicted_index" and stat.get("mean") is not None
        }
    except MALFORMED as error:
        raise BadInput(f"{file} is not what HELM writes: a field is missing in it.") from error


def _read_state(
    state: Mapping[str, Any], *, run: RunFields, chosen: Chosen | None
) -> ReadPrediction:
    try:
        return _request(state, run, chosen)
    except MALFORMED as error:
        raise BadInput("a field of the request is missing") from error


def _request(state: Mapping[str, Any], run: RunFields, chosen: Chosen | None) -> ReadPrediction:
    instance = state["instance"]
    trial = as_number(state["train_trial_index"])
    if trial is None:
        raise BadInput("“train_trial_index” is not a number from 0")
    if instance.get("perturbation"):
        raise LeftOut("a perturbed copy of an instance")
    if state.get("request_mode") == "calibration":
        raise LeftOut("a request that calibrates another")
    if chosen is not None:
        reference = chosen.get((str(instance["id"]), trial))
        if reference is None:
            raise BadInput("per_instance_stats.json does not say which choice was predicted")
        if reference != state["reference_index"]:
            raise LeftOut("a choice that was weighed and not taken")
    return ReadPrediction(
        run=replace(run, split=trial + 1) if run.shots else run,
        answer=_answer(state, separate=chosen is not None),
        source_id=as_id(instance["id"]),
        texts=(str(instance["input"]["text"]), str(state["request"]["prompt"])),
    )


def _answer(state: Mapping[str, Any], *, separate: bool) -> Answer:
    if separate:
        reference = state["instance"]["references"][state["reference_index"]]
        return (str(reference["output"]["text"]),)
    completions = (state.get("result") or {}).get("completions")
    if not completions:
        raise BadInput("the request has no completion")
    text = str(completions[0]["text"])
    mapped = (state.get("output_mapping") or {}).get(text.strip())
    return text if mapped is None else str(mapped)


READER = Reader("HELM", fits, read)
