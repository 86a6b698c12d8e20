"""The two cases of the page “Judged again”, by its own commands, with small invented files of the
shape of those that it says are fetched."""

import csv
import json
import runpy
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from annotation.models import Study
from scoring.cells.scope import Scope
from scoring.comparison.comparing import compare
from tests.documentation.blocks import ROOT, commands

pytestmark = pytest.mark.django_db

SHOWN = [one for one in commands("docs/how-to/judged-again.md") if one.way == "stand-in"]
MAKERS = runpy.run_path(str(ROOT / "tools" / "judged_again.py"))["MAKERS"]
PAIRS = {"passive_1": ("It is seen.", "It is slept."), "wh_island": ("Who left?", "Left who?")}


def save(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def blimp(folder: Path) -> None:
    """Two pairs, a check and a paradigm that is not there; the last person was rejected."""
    (folder / "blimp" / "data").mkdir(parents=True)
    for name in PAIRS:
        (folder / "blimp" / "data" / f"{name}.jsonl").write_text(json.dumps({"UID": name}))
    rows = [
        hit("1", "Approved", ["1. It is seen.", "1. Who left?", "2. B", "1. A"]),
        hit("2", "Approved", ["1. It is seen.", "2. Left who?", "1. A", "1. A"]),
        hit("3", "Rejected", ["2. It is slept.", "2. Left who?", "2. B", "2. B"]),
    ]
    save(folder / "blimp" / "raw_results" / "all_outputs" / "human_responses.csv", rows)


def hit(person: str, status: str, chosen: Sequence[str]) -> dict[str, Any]:
    row: dict[str, Any] = {"AssignmentStatus": status, "anonCode": person}
    asked = {**PAIRS, "attnchk": ("A", "B"), "subject_island": ("A", "B")}
    for place, (name, pair) in enumerate(asked.items(), start=1):
        row |= {f"Input.item_{place}_condition": f"{name}ans1"}
        row |= {f"Input.field_{place}_{number}": text for number, text in enumerate(pair, start=1)}
        row |= {f"Answer.Choice{place}": chosen[place - 1]}
    return {**row, "Input.item_5_condition": "", "Answer.Choice5": ""}


def brainbench(folder: Path) -> None:
    """Two abstracts that an expert altered, and one that a model did."""
    doi = "https://doi.org/10.1/{}".format
    told = "".join(f'{doi(n)};{n};first words, and "more\n' for n in (1, 2))
    people = folder / "brainbench_participant_data"
    people.mkdir()
    (people / "abstract_id_doi.csv").write_text(f"DOI;abstract_id;abstract\n{told}")
    cases = [
        {
            "doi": doi(n),
            "journal_section": "Systems",
            "original_abstract": f"Mice like {n}.",
            "incorrect_abstract": f"Mice dislike {n}.",
        }
        for n in (1, 2)
    ]
    save(folder / "brainbench_testcases" / "BrainBench_Human_v0.1.csv", cases)
    rows = [
        {"pid": pid, "correct": right, "rt": 4000, "abstract_id": f"{n}.0", "journal_section": kind}
        for pid, n, kind, right in (
            *((7, 1, "human_Systems", 1), (7, 2, "human_Systems", 0)),
            *((8, 1, "human_Systems", 1), (8, 2, "machine_Systems", 1)),
        )
    ]
    save(people / "data" / "participant_data.csv", rows)


# The people's means, and what the import says.
CASES = {
    "blimp": (blimp, "blimp-2020", [50, 100], "4 rows read, 4 kept (2 people), 0 left out"),
    "brainbench": (
        *(brainbench, "brainbench-2024", [50, 100]),
        "4 rows read, 3 kept (2 people), 1 left out",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_pages_commands_judge_it_again(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved, slug, means, said = CASES[case]
    saved(tmp_path)
    monkeypatch.chdir(tmp_path)
    out = StringIO()
    for command in SHOWN:
        program, *words = command.words
        if program == "tools/judged_again.py" and words[0] == case:
            MAKERS[case](Path(words[1]))
        elif program == "manage.py" and case in words:
            call_command(*words, stdout=out, stderr=StringIO())
    study = Study.objects.get(slug=slug)
    rows = compare(Scope(study.benchmark, study)).rows
    assert sorted(row.mean or 0 for row in rows if row.single) == means
    assert said in out.getvalue()
