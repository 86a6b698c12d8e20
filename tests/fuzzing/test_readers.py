"""Readers of files from elsewhere take them, or refuse with a sentence: nothing else.

`make fuzz` searches for more, on both databases; what it found once stands here.
"""

import json
from random import Random
from typing import Any

import pytest
from django.db import connection

from tests.made_once import once_a_module
from tools.fuzzing.mutations import DEEP, SEPARATOR, mutated
from tools.fuzzing.targets import TARGETS, Target, make_world

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("world")]
CHANGES = 20
# One of each way to store what was read, since PostgreSQL refuses other texts and numbers than
# SQLite. Whoever stores nothing, or by the functions of one of these, comes to the same there.
STORING = {
    *("benchmark", "question-lines", "known-json", "episodes", "own-lines", "lm-eval"),
    *("people-elsewhere", "flex-predictions", "reported-scores", "bundle", "restore", "study-json"),
}
HUGE = 10**400


# What a reader stores is rolled back.
world = once_a_module(make_world)


def case(name: str, *values: object) -> Any:
    marks = [pytest.mark.both_databases] if name in STORING else []
    return pytest.param(name, *values, marks=marks)


@pytest.mark.parametrize("name", [case(name) for name in TARGETS])
def test_takes_what_the_search_begins_with(name: str) -> None:
    target = TARGETS[name]
    assert any(target.try_out(seed) for seed in target.seeds())


@pytest.mark.parametrize("name", [case(name) for name in TARGETS])
def test_takes_or_refuses_what_was_changed(name: str) -> None:
    target, random = TARGETS[name], Random(name)
    seeds = target.seeds()
    tried = [target.try_out(mutated(random.choice(seeds), random)) for _ in range(CHANGES)]
    assert {*tried} <= {True, False}
    assert len(tried) == CHANGES


def changed(target: Target, file: int, place: tuple[Any, ...], value: object) -> bytes:
    """The first seed, with another value at one place of one of its files (or its first line)."""
    files = target.seeds()[0].split(SEPARATOR)
    first, *rest = files[file].split(b"\n") if _has_lines(files[file]) else [files[file]]
    document: Any = json.loads(first)
    holder = document
    for key in place[:-1]:
        holder = holder[key]
    if place:
        holder[place[-1]] = value
    text = json.dumps(document if place else value)
    files[file] = b"\n".join([text.replace(f'"{DEEP}"', "[" * 950 + "]" * 950).encode(), *rest])
    return SEPARATOR.join(files)


def _has_lines(file: bytes) -> bool:
    """Whether its first line is a document of its own."""
    try:
        json.loads(file)
    except ValueError:
        return True
    return False


FOUND: list[tuple[str, int, tuple[Any, ...], object]] = [
    ("lm-eval", 1, ("config",), None),
    ("lm-eval", 1, ("n-shot",), []),
    ("lm-eval", 1, ("config", "model_num_parameters"), HUGE),
    ("lm-eval", 0, ("filtered_resps", 0, 0), HUGE),
    ("lm-eval", 0, ("doc",), DEEP),
    ("helm", 1, ("request_states", 0, "instance", "input", "text"), 7),
    ("helm", 1, ("request_states", 0, "train_trial_index"), 0.5),
    ("helm", 1, ("request_states", 0, "result", "completions", 0, "text"), None),
    ("helm-separate", 1, ("request_states", 0, "reference_index"), 99),
    ("helm-separate", 2, (), 7),
    ("helm-separate", 2, (0,), []),
    ("helm-separate", 2, (0, "stats"), None),
    ("helm-separate", 2, (0, "stats", 0, "name"), []),
    ("helm-separate", 2, (0, "stats", 0, "mean"), []),
    ("helm-separate", 2, (0, "stats", 0, "mean"), HUGE),
    ("helm-separate", 2, (0, "train_trial_index"), []),
    ("inspect", 0, ("samples", 0), False),
    ("inspect", 0, ("eval", "task_args"), ["fewshot"]),
    ("inspect", 0, ("samples", 0, "choices"), 7),
    ("inspect", 0, ("samples", 0, "output"), [1]),
    ("inspect", 0, ("samples", 0, "scores"), [1]),
    ("inspect", 0, ("samples", 0, "attachments"), [1]),
    ("inspect-archive", 1, ("choices",), True),
    ("every-eval-ever", 0, ("answer_attribution",), 7),
    ("every-eval-ever", 0, ("output",), "text"),
    ("every-eval-ever", 0, ("input", "choices"), 7),
    ("reported-scores", 0, ("scores", 0, "mean"), HUGE),
    ("replies", 0, ("answer_kind",), {}),
    ("replies", 0, ("labels",), [[], []]),
    ("backup", 0, ("tables",), DEEP),
    ("bundle", 0, ("rules",), DEEP),
    ("known-lines", 0, ("question", "choices"), True),
    ("known-lines", 0, ("question", "choices", 0, "label"), HUGE),
    ("known-lines", 0, ("answerKey",), [{"text": ["a"], "answer_start": 0.5}]),
]


@pytest.mark.parametrize(("name", "file", "place", "value"), [case(*found) for found in FOUND])
def test_takes_or_refuses_what_was_found(
    name: str, file: int, place: tuple[Any, ...], value: object
) -> None:
    target = TARGETS[name]
    target.try_out(changed(target, file, place, value))


NESTED = b"[" * 600 + b"3" + b"]" * 600
RAW: list[tuple[str, bytes]] = [
    # As MMLU's own files are, with more columns than letters.
    ("question-csv", b"What?" + b",a" * 29 + b",B"),
    # A point in a column's name, which leads into no other.
    ("question-lines", b'{"question>": "Who?", "choices": [[]], "answer": 1, "0.5": "Who?"}'),
    ("question-lines", b'{"question": "Who?", "choices": [%s, "B"], "answer": 1}' % NESTED),
    ("question-lines", b'{"question": "Who?", "choices": ["A", "B"], "answer": %s}' % NESTED),
    *(("restore", row) for row in (b"{", b"1", b"[]", b'{"a": 1}', b"[" * 9_999)),
]


# What SQLite holds its backup gives back to it; PostgreSQL refuses it with a sentence.
@pytest.mark.both_databases
@pytest.mark.parametrize(
    ("name", "keepers"),
    [("a" * 99, {"sqlite"}), ("a\0b", {"sqlite"}), ("a\ud800b", set())],
)
def test_restores_a_row_only_where_the_database_keeps_it(name: str, keepers: set[str]) -> None:
    target = TARGETS["restore"]
    (rows,) = target.seeds()
    place = json.loads(rows.splitlines()[0]).index("prolific")
    kept = target.try_out(changed(target, 0, (place,), name))
    assert kept == (connection.vendor in keepers)


@pytest.mark.both_databases
def test_leaves_references_to_be_compared_later_once_it_has_restored() -> None:
    """Even where what stands around it is rolled back, as here each time."""
    target = TARGETS["restore"]
    assert [target.try_out(target.seeds()[0]) for _ in range(2)] == [True, True]


@pytest.mark.parametrize(("name", "data"), [case(*raw) for raw in RAW])
def test_refuses_what_was_found(name: str, data: bytes) -> None:
    assert not TARGETS[name].try_out(data)


def test_refuses_a_member_without_a_name() -> None:
    assert not TARGETS["flex-predictions"].try_out(b'{[1]: {"label": "1"}}')
    assert not TARGETS["reported-scores"].try_out(b'{"a": 1, 7: 2}')
    assert not TARGETS["mt-dnn"].try_out(b'{"uids": [], "predictions": [], {}: 1}')
