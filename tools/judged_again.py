"""Writes what others published of their people as tables that Baseliner reads: the benchmark's, and
its people's. docs/how-to/judged-again.md says where the files are from, and what comes of them.

    python tools/judged_again.py blimp FOLDER        the repository blimp
    python tools/judged_again.py brainbench FOLDER   what holds the repositories
                                                     brainbench_participant_data and
                                                     brainbench_testcases

Each makes in the folder `items/` with the benchmark, and beside it people.csv.
"""

import csv
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

Row = dict[str, object]
# In BLiMP's conditions, the number of the right sentence of the two.
CONDITION = re.compile(r"(.+)ans([12])")
# Conditions are called as the paradigms are, but this one.
RENAMED = {"determiner_noun_agreement_with_adj_1": "determiner_noun_agreement_with_adjective_1"}
PLACES = range(1, 6)
ABSTRACT = re.compile(r"^(https://doi\.org/[^;]+);(\d+);", re.MULTILINE)


def blimp(folder: Path) -> None:
    """Pairs of sentences, of which people chose one. Attention checks, conditions that are no
    paradigm of BLiMP, and what its authors rejected stay out."""
    paradigms = {path.stem for path in (folder / "data").glob("*.jsonl")}
    items: dict[str, Row] = {}
    people = list(
        _of_blimp(
            _read(folder / "raw_results" / "all_outputs" / "human_responses.csv"), paradigms, items
        )
    )
    _write(folder / "items" / "blimp.csv", items.values())
    _write(folder / "people.csv", people)


def _of_blimp(
    rows: Iterable[Mapping[str, str]], paradigms: set[str], items: dict[str, Row]
) -> Iterator[Row]:
    for row in rows:
        for place in PLACES if row["AssignmentStatus"] == "Approved" else ():
            found = CONDITION.fullmatch(row[f"Input.item_{place}_condition"])
            chosen = row[f"Answer.Choice{place}"][:1]
            if found is None or RENAMED.get(found[1], found[1]) not in paradigms or not chosen:
                continue
            first, second = (row[f"Input.field_{place}_{number}"] for number in (1, 2))
            pair = {"A": first, "B": second}
            item = f"{found[1]}: {first}"[:190]
            asked = {"id": item, "question": "Which sentence is more natural?", **pair}
            items.setdefault(item, {**asked, "answer": " AB"[int(found[2])], "subject": found[1]})
            yield {"person": row["anonCode"], "item": item, "answer": chosen}


def brainbench(folder: Path) -> None:
    """Pairs of abstracts, one of them altered by an expert; whether each person chose the one that
    was published, but not which was shown first. Those that a model altered stay in people.csv."""
    people_folder = folder / "brainbench_participant_data"
    told = (people_folder / "abstract_id_doi.csv").read_text(encoding="utf-8", errors="replace")
    numbers = dict(ABSTRACT.findall(told))
    cases = _read(folder / "brainbench_testcases" / "BrainBench_Human_v0.1.csv")
    items = []
    for case in cases:
        pair = sorted([case["original_abstract"], case["incorrect_abstract"]])
        asked = {"id": f"human {numbers[case['doi']]}", "question": "Which abstract was published?"}
        right = "AB"[pair.index(case["original_abstract"])]
        about = {"answer": right, "subject": case["journal_section"]}
        items.append({**asked, **dict(zip("AB", pair, strict=True)), **about})
    people = [
        {
            "person": row["pid"],
            "item": f"{row['journal_section'].partition('_')[0]} {float(row['abstract_id']):.0f}",
            "score": row["correct"],
            "seconds": float(row["rt"]) / 1000,
        }
        for row in _read(people_folder / "data" / "participant_data.csv")
    ]
    _write(folder / "items" / "brainbench.csv", items)
    _write(folder / "people.csv", people)


def _read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def _write(path: Path, rows: Iterable[Mapping[str, object]]) -> None:
    kept = list(rows)
    path.parent.mkdir(exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(kept[0]))
        writer.writeheader()
        writer.writerows(kept)
    print(f"{path}: {len(kept)} rows")


MAKERS = {"blimp": blimp, "brainbench": brainbench}

if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in MAKERS:
        sys.exit(__doc__)
    MAKERS[sys.argv[1]](Path(sys.argv[2]))
