"""The id of an exported prompt: it names the run that the answer belongs to, whatever tool carries
it, so that answers of several shots, splits or episodes never mix.

`clues:sst2:shots10-split1:883_1`, `flex:mr:episode7-shots5:12`; the last part is the example's own
id. That of a training example, which is not answered, has `-training` before it.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from annotation.models.errors import BadInput
from annotation.models.texts import is_text
from scoring.models import Run, shots_label
from scoring.runs.formats.records import Prompted, RunFields, run_fields

PLACE = ("benchmark", "task", "shots", "split", "episode")
# How a prompt was made, for the report of the run.
HOW = ("study", "format", "seed", "shown")
_ID = re.compile(
    r"(?P<benchmark>[\w-]+):(?P<task>[\w-]+):(?:episode(?P<episode>\d+)-)?shots(?P<shots>\d*)"
    r"(?:-split(?P<split>\d+))?:(?P<example>.+)",
    re.DOTALL,
)


def prompt_id(fields: Mapping[str, Any], example: str, *, training: bool = False) -> str:
    """`fields` say what is in PLACE; what is None is left out."""
    shots, split, episode = (fields.get(name) for name in ("shots", "split", "episode"))
    place = "" if episode is None else f"episode{episode}-"
    place += f"shots{'' if shots is None else shots}"
    place += "" if split is None else f"-split{split}"
    place += "-training" if training else ""
    return f"{fields['benchmark']}:{fields['task']}:{place}:{example}"


def of_prompt_id(text: str | None) -> Prompted | None:
    """What the id of a prompt says; None for any other id."""
    match = _ID.fullmatch(text or "")
    if match is None:
        return None
    named = {name: match[name] or None for name in PLACE}
    try:
        return Prompted(run_fields(named), match["example"])
    except BadInput:
        return None


def prompted(fields: object) -> Prompted | None:
    """What a prompt says of itself among the fields that a tool hands back; None if these are not
    those of a prompt."""
    if not isinstance(fields, dict) or fields.get("role") == "training":
        return None
    by_id = of_prompt_id(_text(fields.get("id")))
    run = _run(fields) or (by_id.run if by_id else None)
    example = fields.get("example", by_id.example if by_id else fields.get("id"))
    if run is None or not isinstance(example, str | int):
        return None
    options, labels = _texts(fields.get("options")), _texts(fields.get("labels"))
    return Prompted(
        run=run,
        example=str(example),
        options=options,
        labels=labels if len(labels) == len(options) else options,
        how={name: fields[name] for name in HOW if _is_how(name, fields.get(name))},
    )


def as_prompted(fields: RunFields, own: RunFields, *, said: RunFields) -> RunFields:
    """The run that an answer belongs to by its prompt, whatever the tool says. Raises BadInput
    where an option of the importer contradicts the prompt."""
    for name in ("task", "shots", "split", "episode"):
        given, there = getattr(said, name), getattr(own, name)
        if given not in ("", None) and given != there:
            raise BadInput(
                f"the prompt was made for {name} {'none' if there is None else there}, but "
                f"--{name} says {given}: leave the option out"
            )
    return replace(
        fields,
        benchmark=said.benchmark or own.benchmark,
        task=own.task,
        shots=fields.shots if own.shots is None else own.shots,
        split=own.split,
        episode=own.episode,
    )


def example_of_run(text: str, run: Run) -> str:
    """The example's own id, given the id of a prompt or that id itself. Raises BadInput for a
    prompt of another run."""
    own = of_prompt_id(text)
    if own is None:
        return text
    place = {
        "benchmark": run.benchmark.name,
        "task": run.task.slug,
        "shots": shots_label(run.shots),
        "split": run.split,
        "episode": run.episode,
    }
    if text != prompt_id(place, own.example):
        raise BadInput(
            f"The id {text} is that of a prompt for another run: this one is on {run.task.slug}, "
            f"{run.label}."
        )
    return own.example


def _run(fields: Mapping[str, Any]) -> RunFields | None:
    """Where task and shots are named. Other data sets use these words for other things, which show
    by what they hold."""
    if not fields.get("task") or fields.get("shots") is None:
        return None
    try:
        return run_fields({name: fields.get(name) for name in PLACE})
    except BadInput:
        return None


def _is_how(name: str, value: object) -> bool:
    """Whether it is what an export writes: it is stored with the run."""
    if name == "seed":
        return isinstance(value, int)
    texts = value if name == "shown" and isinstance(value, list) else [value]
    return all(isinstance(text, str) and is_text(text) for text in texts)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: object) -> tuple[str, ...]:
    are_texts = isinstance(value, list) and all(isinstance(text, str) for text in value)
    return tuple(value) if isinstance(value, list) and are_texts else ()
