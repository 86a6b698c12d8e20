"""What keyboards of other languages give, by small files: practice that is typed right is right."""

import json
import shutil
from pathlib import Path

import pytest

from annotation.benchmarks.importing import import_benchmark
from annotation.models import Assignment, Batch, Item, Judgement, Task
from annotation.studies.lifecycle import start_study
from annotation.work.judging import current_example, leave_reveal
from tests import make
from tests.batching import make_batches
from tests.skips import SHARED, WITHOUT_FILES

FOLDER = SHARED / "cases" / "answers"
pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(not FOLDER.exists(), reason=WITHOUT_FILES),
]

# By the beginning of an example's name, what is typed.
FRENCH = {"ft0": "Besançon", "ft1": "une crêpe", "ft2": "Orléans", "ft3": "Éric"}
PLAIN = {
    "yt0": "beside the mayor's office",
    "yt1": "1914-1918",
    "yt2": '"home"',
    "yt3": "don't eat",
}
JAPANESE = {"nt0": "２５", "nt1": "ー３", "nt2": "１，２００", "nt3": "２／３", "nt4": "２．５"}


def begun(folder: Path, shots: int) -> Assignment:
    import_benchmark(folder, name="keyboards")
    task = Task.objects.get()
    study = make.study(task.benchmark)
    make_batches(study, tasks=[task], shots=[shots], chains=[1], wanted=1)
    start_study(study, at=make.NOON)
    return make.at_work(Batch.objects.get())


def practised(folder: Path, typed: dict[str, str], field: str) -> Assignment:
    """Somebody who has answered the practice of the folder's one task."""
    assignment = begun(folder, len(typed))
    for step in range(len(typed)):
        form = {field: typed[name_of(assignment)]}
        make.answer(assignment, form)
        leave_reveal(assignment, step=step, at=make.NOON)
    return assignment


def test_letters_whose_accents_stand_apart_in_the_file() -> None:
    assignment = practised(FOLDER / "typed-decomposed", FRENCH, "text")
    assert assignment.training_score == 100


def test_a_typographer_s_signs_under_typed_and_not_under_squad(tmp_path: Path) -> None:
    folder = shutil.copytree(FOLDER / "typed-typographic", tmp_path / "typed")
    [about] = folder.glob("*/task.json")
    fields = json.loads(about.read_text())
    del fields["normalisation"]
    about.write_text(json.dumps(fields))
    assert practised(folder, PLAIN, "text").training_score == 100


def test_numbers_of_a_japanese_keyboard() -> None:
    assert practised(FOLDER / "numbers-japanese", JAPANESE, "number").training_score == 100


def test_words_marked_among_emoji_line_ends_and_other_scripts() -> None:
    assignment = begun(FOLDER / "spans-exotic", 7)
    for step in range(7):
        make.answer(assignment, make.right_answer(assignment))
        leave_reveal(assignment, step=step, at=make.NOON)
    assert assignment.training_score == 100
    for judgement in Judgement.objects.select_related("example"):
        assert pieces(judgement) == judgement.answer


def name_of(assignment: Assignment) -> str:
    """The name that the file gives to the example that is asked."""
    return Item.objects.get(
        example=current_example(assignment).pk, item_set=assignment.batch.training_set
    ).source_id


def pieces(judgement: Judgement) -> list[str]:
    context = judgement.example.context
    return [context[segment][start:end] for segment, start, end in judgement.spans]
