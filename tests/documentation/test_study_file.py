"""The reference of a study's file says every key, and its example makes the study that it says."""

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from annotation.benchmarks.importing import import_benchmark
from annotation.models import Study
from annotation.models.settings import SETTINGS
from annotation.studies.study_file.reading import TYPES, type_of
from annotation.studies.study_file.writing import content_of, document
from config.documentation import pages
from tests import make
from tests.annotation.benchmarks.clues_files import choice_row, spans_row, write_task

FOLDERS = ("SST-2", "MNLI", "CoNLL2003", "WikiANN_EN", "SQuAD-v2", "ReCoRD")
PLACES = [{"start": 0, "end": 4}, {"start": 9, "end": 14}]


def test_the_reference_says_every_key_and_what_it_means() -> None:
    reference = pages.source("reference/study-file")
    for one in SETTINGS:
        (row,) = re.findall(
            rf"^\| `{one.key}` \|.*{re.escape(one.in_file or one.meaning)} \|$",
            reference.partition(f"[{one.table}")[2].partition("\n## ")[0],
            re.MULTILINE,
        )
        assert ("at any time" in row) == (one.changes == "always")
        assert type_of(one) in TYPES


@pytest.fixture
def clues(tmp_path: Path) -> Path:
    """The six tasks, with five splits of three nested shot sets each, and two test rows."""
    for number, folder in enumerate(FOLDERS):
        row: Any = choice_row if number < 2 else spans_row
        marked = {"entities": PLACES} if folder == "ReCoRD" else {}
        shots = {
            (k, split): [row(100 * split + n, **marked) for n in range(k)]
            for k in (10, 20, 30)
            for split in range(1, 6)
        }
        test = [row(n, **marked) for n in (1, 2)]
        write_task(tmp_path / "clues" / folder, test, shots, description="Read and answer.")
    return tmp_path / "clues"


@pytest.mark.django_db
def test_the_example_makes_the_study_of_clues(clues: Path, tmp_path: Path) -> None:
    make.channel("link")
    import_benchmark(clues, name="clues")
    (example,) = re.findall(
        r"^```toml\n(.*?)^```$", pages.source("how-to/study-file"), re.MULTILINE | re.DOTALL
    )
    (tmp_path / "study.toml").write_text(example)
    (tmp_path / "consent.md").write_text("We store your answers.")
    call_command("apply_study", str(tmp_path / "study.toml"))
    study = Study.objects.get()
    cells = Counter((one.task.slug, one.shots) for one in study.batches.all())
    slugs = ("sst2", "mnli", "conll03", "wikiann", "squadv2", "record")
    assert cells == {(slug, k): 5 if k else 1 for slug in slugs for k in (0, 10, 20, 30)}
    assert {one.wanted for one in study.batches.all()} == {3}
    call_command("start_study", study.slug)
    written = document(content_of(study))["batches"]
    assert [(one["shots"], one["people"]) for one in written] == [([0], 3), ([10, 20, 30], 3)]
