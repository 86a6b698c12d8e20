"""The README of a bundle, for a reader who has nothing but the bundle."""

from collections.abc import Mapping
from typing import Any

from scoring.tables.markdown import escaped

_TEXT = """# {title}

The study “{study}”: what people scored on the benchmark {benchmark}, under the conditions that
few-shot models get. {people} took part in what is packed here{state}.

Packed by Baseliner, bundle format {version}.

## What is here

- `study.json`: the study and the rules that it ran under.
- `tasks.jsonl`, `batches.jsonl`, `items.jsonl`, `gold.jsonl`: what was asked, and the reference
  answers. {texts}
- `assignments.jsonl`, `judgements.jsonl`: who did what, under pseudonyms. Times are counted from
  each person's consent.
- `figures.jsonl`: the table of people: mean S1, SD and interval of every cell (task × shots), under
  both ways to count several references, and for both kinds of interval.
- `dictionary.csv`: what every field of every file means.
- `figures.py`: computes the figures again from the answers and the gold.
- `SHA256SUMS`: the checksum of every file.

One JSON object a line, in UTF-8. {left_out}

## Checking it

    sha256sum --check SHA256SUMS
    pip install numpy scipy
    python figures.py

The script says how far its figures lie from those in `figures.jsonl`; more than 0.000000001 points
is an error. `manage.py verify_bundle FILE` of Baseliner does both, and says in a sentence what was
changed. Whoever changes a file can change the checksums too: compare the checksum of `SHA256SUMS`
itself with the one that the authors published.

## How the figures are computed

- **S1** (CLUES, Mukherjee et al. 2021, equation 1) of an answer: 1 if answer and gold are both
  empty, 0 if only one is or if they share nothing, else the harmonic mean of precision and recall
  over the distinct texts, compared exactly after the task's normalisation. Several references count
  as their union (`set`), or the best of them counts (`any`).
- **Who counts**: assignments with the outcome `completed` that nobody excluded.
- **Mean and SD**: every item counts alike; the SD is over annotators (ddof 1).
- **Intervals** (95 %): items that share a context are one cluster. `these_items`: other people on
  exactly these items, by Student's t. `new_items`: other people on other items like these, by
  Wilson's formula with an effective size, from the scores with one more item that everybody got
  wrong. With two people only the guard band is given. People who learned from the same shot set are
  compared with one another: these shot sets are held fixed.

## If you use it

The texts belong to the authors of the benchmark{source}. Do not try to find out who the annotators
are.
"""


def readme(about: Mapping[str, Any]) -> str:
    people = about["people"]
    marked = [
        name
        for name, is_in in (
            ("simulated annotators", about["simulated"]),
            ("excluded assignments", about["with_excluded"]),
        )
        if is_in
    ]
    left = [name for name in ("simulated annotators", "excluded assignments") if name not in marked]
    return _TEXT.format(
        title=escaped(about["title"]),
        study=escaped(about["study"]),
        benchmark=escaped(about["benchmark"]),
        version=about["version"],
        people=f"{people} {'person' if people == 1 else 'people'}",
        state="" if about["state"] == "closed" else "; it had not ended when this was packed",
        texts="The texts are in `texts.jsonl`."
        if about["texts"]
        else "The texts themselves are not here: examples are named by hashes of their content.",
        left_out=" ".join(
            [
                *([f"Marked and included: {' and '.join(marked)}."] if marked else []),
                *([f"Left out: {' and '.join(left)}."] if left else []),
            ]
        ),
        source=f" ({escaped(about['benchmark_source'])})" if about["benchmark_source"] else "",
    )
