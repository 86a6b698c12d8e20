"""Which part of a set people are asked, which they practise on, and which only hold rows to draw
shots from."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import permutations
from typing import Any, NoReturn

from annotation.benchmarks.formats.content import Ambiguous, ReadExample, ReadSet, ReadTask
from annotation.benchmarks.formats.drawing import Draw
from annotation.benchmarks.formats.known_sets import PARTS, TRAINING_PARTS, is_aside
from annotation.benchmarks.formats.layouts import SetFiles, TaskFiles
from annotation.benchmarks.formats.marks import MARKS
from annotation.benchmarks.formats.missing import in_words
from annotation.benchmarks.formats.one_table import Unlabelled
from annotation.models import Role
from annotation.models.errors import BadInput

# A training part of this size or less is a set of shots as published, such as MMLU's of 5; a larger
# one is there to draw sets from.
MOST_SHOTS = 64
# The name of such a part, which is not stored.
PART = "labelled part"


def set_of(of: SetFiles, examples: Sequence[ReadExample]) -> ReadSet:
    named = partial(ReadSet, role=of.role, file=of.files[0], examples=examples)
    if of.role == Role.TEST:
        return named("test")
    if of.shots is None and (of.is_part or len(examples) > MOST_SHOTS):
        return named(PART)
    if of.shots is not None:
        _check_size(examples, of.shots)
    shots, split = of.shots or len(examples), of.split or 1
    return named(f"train-{shots}-{split}", shots=shots, split=split)


def _check_size(rows: Sequence[ReadExample], shots: int) -> None:
    """k rows, or k contexts (with every question asked of each)."""
    asked = Counter(row.question for row in rows)
    contexts = len({row.context for row in rows})
    # Two of the k contexts may be equal: each question is still asked k times.
    evenly = len(asked) > 1 and set(asked.values()) == {shots}
    if len(rows) != shots and contexts != shots and not evenly:
        raise BadInput(
            f"{rows[-1].where}: the file ends here with {len(rows)} rows of {contexts} contexts, "
            f"but its name says {shots} shots; it needs {shots} of either."
        )


def check_training(tasks: Sequence[TaskFiles]) -> None:
    """Raise Ambiguous for a file that is named for training where no test of its task is there, but
    tests of others: it most likely belongs to one of them."""
    trained = [
        task for task in tasks if task.is_table and all(_is_training(one.part) for one in task.sets)
    ]
    if trained and len(trained) < len(tasks):
        files = [file for task in trained for set_files in task.sets for file in set_files.files]
        raise Ambiguous(
            "",
            f"{files[0]} is named for training, and there is no test of “{trained[0].name}”. Name "
            "it as the test that it belongs to is named, such as train.csv beside test.csv.",
            ("leave_out", files, f"leave {'them' if files[1:] else 'it'} out"),
        )


ReadRows = Callable[[Sequence[str]], list[ReadExample]]


def sets_of_table(
    task: TaskFiles,
    read: ReadRows,
    draw: Draw | None,
    said: Mapping[str, Any],
    notes: dict[str, list[str]],
) -> list[ReadSet]:
    """The part that people are asked, the last of them, behind those to show or to draw from.
    Raises BadInput where no part has gold."""
    meant = said.get("parts", {}).get("test", "")
    order = sorted(task.sets, key=lambda one: bool(meant) and not one.part.startswith(meant))
    asked, labelled = _first_labelled(order, read, notes, said)
    within = _by_part(labelled, meant)
    rows = within.pop(next(iter(within)))
    if _is_training(asked.part) or _is_training(rows[0].part):
        notes["only_training"] += [f"{asked.files[0]}: {len(rows)} rows"]
    sets = [set_of(replace(asked, role=Role.TEST), rows)]
    practice = _Practice(order, within, read, draw, said, notes)
    for part, others in within.items():
        of = SetFiles(asked.files, Role.TRAINING, part=part, is_part=_is_training(part))
        made = _as_training(of, others)
        if practice.takes(made, of):
            sets.insert(0, made)
    if draw and draw.source:
        named = SetFiles([str(draw.source)], Role.TRAINING, is_part=True)
        sets.insert(0, _as_training(named, read(named.files)))
    for set_files in reversed(order[order.index(asked) + 1 :]):
        of = replace(set_files, role=Role.TRAINING, is_part=_is_training(set_files.part))
        # Nobody practises on a test, whichever part is asked instead.
        is_test = _base(of.part) in ("test", _base(asked.part))
        if is_test or (of.is_part and (not draw or draw.source)):
            notes["not_drawn"] += [f"{of.files[0]}: not read"]
            continue
        try:
            made = _as_training(of, read(of.files))
        except Unlabelled as refusal:
            notes["unlabelled"] += [str(refusal)]
            continue
        if practice.takes(made, of):
            sets.insert(0, made)
    return _numbered(sets)


@dataclass(frozen=True)
class _Practice:
    """Says on which parts people practise, of those beside the part that they are asked."""

    order: Sequence[SetFiles]
    # Those that lie in the file of the part that is asked.
    within: Mapping[str, Sequence[ReadExample]]
    read: ReadRows
    draw: Draw | None
    said: Mapping[str, Any]
    notes: dict[str, list[str]]

    def takes(self, made: ReadSet, of: SetFiles) -> bool:
        """Whether a set is taken. Shots are drawn from what is there to train on, where there is
        any; another part is left out then, unless the task's file names it."""
        if not self._has_training or of.is_part:
            return True
        named = self.said.get("parts", {}).get("shots", "")
        if made.name != PART and not named and self._is_smaller(made):
            _ask_about_shots(made, of)
        if not self.draw if made.name == PART else of.part.startswith(named):
            return True
        self.notes["not_drawn"] += [f"{made.file}: {len(made.examples)} rows"]
        return False

    @property
    def _has_training(self) -> bool:
        return any(map(_is_training, [*self.within, *(one.part for one in self.order)]))

    def _is_smaller(self, made: ReadSet) -> bool:
        """Whether it is smaller than a part to train on."""
        sizes = [len(others) for part, others in self.within.items() if _is_training(part)]
        for set_files in self.order:
            if _is_training(set_files.part):
                with suppress(Unlabelled):
                    sizes.append(len(self.read(set_files.files)))
        return len(made.examples) < max(sizes, default=0)


def _ask_about_shots(made: ReadSet, of: SetFiles) -> NoReturn:
    few = len(made.examples)
    raise Ambiguous(
        made.file,
        f"the part “{of.part}” has {few} rows, and a part to train on lies beside it.",
        ("parts", {"shots": _base(of.part)}, f"people practise on these {few} rows"),
        ("parts", {"shots": "train"}, "they are left out; shots are drawn from the training part"),
        row=made.examples[0].shown,
    )


def _numbered(sets: Sequence[ReadSet]) -> list[ReadSet]:
    """Parts of one size are shots of several splits."""
    numbered: list[ReadSet] = []
    for read_set in sets:
        split = 1 + sum(other.shots == read_set.shots is not None for other in numbered)
        name = f"train-{read_set.shots}-{split}"
        numbered.append(replace(read_set, name=name, split=split) if split > 1 else read_set)
    return numbered


def _as_training(of: SetFiles, rows: Sequence[ReadExample]) -> ReadSet:
    return set_of(of, [replace(row, role=Role.TRAINING) for row in rows])


def _first_labelled(
    order: Sequence[SetFiles],
    read: ReadRows,
    notes: dict[str, list[str]],
    said: Mapping[str, Any],
) -> tuple[SetFiles, list[ReadExample]]:
    refusals = list[Unlabelled]()
    for number, set_files in enumerate(order):
        others = order[number + 1 :]
        try:
            rows = read(set_files.files)
        except Unlabelled as refusal:
            refusals.append(refusal)
            notes["unlabelled"] += [str(refusal)]
            continue
        if not rows:
            raise BadInput(f"{set_files.files[0]} is empty: it needs a row for each question.")
        golds = {str(row.gold_texts) for row in rows}
        if len(rows) == 1 or len(golds) > 1 or not others:
            return set_files, rows
        if golds & (of_others := _golds(others, read)):
            _ask_about_one_gold(set_files.files, set_files.part, rows, of_others, said)
            return set_files, rows
        notes["unlabelled"] += [
            f"{set_files.files[0]}: there are no answers in this file: every one is "
            f"“{rows[0].gold_in_words}”, which no other part has."
        ]
    if "answer" not in said.get("columns", {}):
        _ask_about_others(refusals)
    raise refusals[0] if refusals else Unlabelled(notes["unlabelled"][0])


def _ask_about_one_gold(
    files: Sequence[str],
    part: str,
    rows: Sequence[ReadExample],
    others: Collection[str],
    said: Mapping[str, Any],
) -> None:
    """Raise Ambiguous about files of one gold where others have more: it may stand for none."""
    if len({str(row.gold_texts) for row in rows}) > 1 or len(others) < 2:
        return
    if "test" in said.get("parts", {}):
        return
    raise Ambiguous(
        files[0],
        f"every answer is {in_words(rows[0].gold_in_words)}, and other files of the set have more.",
        ("leave_out", [*files], "there are no answers in this file, and it is left out"),
        ("parts", {"test": _base(part)}, "they are the answers of this file"),
        row=rows[0].shown,
    )


def ask_about_hidden(tasks: Sequence[ReadTask], said: Mapping[str, Mapping[str, Any]]) -> None:
    """Raise Ambiguous where another task asks the same, and has other gold than one for all. said:
    by the task."""
    for one, other in permutations(tasks, 2):
        test, asked = one.sets[-1], {row.content_hash for row in one.sets[-1].examples}
        same = [row for row in other.sets[-1].examples if row.content_hash in asked]
        if len(same) > 1:
            golds = {str(row.gold_texts) for row in same}
            _ask_about_one_gold([test.file], "test", test.examples, golds, said[one.slug])


def _ask_about_others(refusals: Sequence[Unlabelled]) -> None:
    """Raise Ambiguous where some parts have columns that others lack."""
    fewest = min((refusal.names for refusal in refusals), key=len, default=())
    for refusal in refusals:
        row = refusal.row or {}
        ask_about_answer(refusal, [n for n in row if n not in fewest and not is_aside(n)])


def ask_about_answer(refusal: Unlabelled, names: Sequence[str] = ()) -> None:
    """Raise Ambiguous where one of these columns may be the answer, or all that hold 0 and 1."""
    marks = [name for name, values in refusal.labels.items() if {*values} <= MARKS.keys()]
    votes = [n for n, values in refusal.labels.items() if all(map(str.isdecimal, values))]
    what = str(refusal)
    if len(votes) > 1 and not marks:
        what += (
            f" {' and '.join(f'“{n}”' for n in votes[:6])} hold numbers, such as votes: where all "
            "are labels, choose from which number on one fits, and write 1 there, and 0 below."
        )
    readings: list[tuple[str, Any, str]] = [
        ("columns", {"answer": name}, f"“{name}” is the answer") for name in names[:6]
    ]
    if len(marks) > 1:
        each = "a label has a column each, with 1 where it fits"
        readings.append(("columns", {"answer": marks}, each))
    if readings:
        raise Ambiguous("", what, *readings, row=refusal.row)


def _golds(parts: Sequence[SetFiles], read: ReadRows) -> set[str]:
    golds = set()
    for set_files in parts:
        with suppress(Unlabelled):
            golds |= {str(row.gold_texts) for row in read(set_files.files)}
    return golds


def _is_training(part: str) -> bool:
    return part.startswith(tuple(TRAINING_PARTS))


def _by_part(rows: Sequence[ReadExample], asked_part: str) -> dict[str, list[ReadExample]]:
    """The rows by the part of the set that they say they belong to; the one that is asked first."""
    parts = {row.part for row in rows}
    names = sorted(parts, key=lambda part: (part != asked_part, (*PARTS, part).index(part)))
    return {part: [row for row in rows if row.part == part] for part in names}


def _base(part: str) -> str:
    return part.partition("_")[0]
