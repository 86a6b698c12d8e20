"""Rebuilds the table of a study bundle from its answers and its gold.

    python figures.py [FOLDER]

FOLDER holds the unpacked bundle, by default the one with this script. Python 3.11 or newer, numpy
and scipy are all it needs. It prints the figures of people, and how far they lie from those in
figures.jsonl.

The formulas: S1 by CLUES (Mukherjee et al. 2021, equation 1); intervals for new items by Wilson
(1927) with an effective size, from the scores with one more item that everybody got wrong (right,
where the mean is below one half); degrees of freedom by Satterthwaite (1946). README.md has more.
"""

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

try:
    from normalisation import as_compared  # type: ignore[import-not-found]
except ImportError:  # not unpacked: within the product
    from scoring.core.normalisation import as_compared

Array = NDArray[Any]
Row = dict[str, Any]
Limits = tuple[float | None, float | None]
LEVEL, CLOSE = 0.95, 1e-9
SEED, RESAMPLES = 20211206, 1000
KEY = ("kind", "task", "shots", "pool", "references", "asked", "with_excluded")
NUMBERS = ("mean", "sd", "n", "m", "ci_low", "ci_high")


# The score of one answer


def s1(texts: Iterable[str], right: Iterable[str]) -> float:
    answer, gold = set(texts) - {""}, set(right) - {""}
    if not answer and not gold:
        return 1.0
    return 2 * len(answer & gold) / (len(answer) + len(gold))


def score(answer: list[str], alternatives: list[list[str]], references: str, like: str) -> float:
    """Several alternatives count as their union (set), or the best of them counts (any)."""
    answer, golds = as_compared(answer, alternatives or [[]], like)
    if references == "set":
        return s1(answer, [text for texts in golds for text in texts])
    return max(s1(answer, texts) for texts in golds)


# The interval of one cell: y is annotators × clusters of items, NaN where nobody answered


def cluster_scores(y: Array, clusters: Sequence[str]) -> Array:
    """One column for each cluster of items, weighted so that every mean stays the same."""
    names = list(dict.fromkeys(clusters))
    if len(names) == len(clusters):
        return y
    seen = ~np.isnan(y)
    centre = np.nanmean(np.nanmean(y, axis=0))
    number = {name: k for k, name in enumerate(names)}
    labels = np.array([number[cluster] for cluster in clusters])
    order, sizes = np.argsort(labels, kind="stable"), np.bincount(labels)
    starts = np.cumsum(sizes) - sizes
    total = np.add.reduceat(np.where(seen, y - centre, 0)[:, order], starts, axis=1)
    count = np.add.reduceat(seen[:, order].astype(int), starts, axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        z = np.where(count > 0, centre + sizes / sizes.mean() * total / count, np.nan)
    return np.asarray(z + (centre - np.nanmean(z, axis=0).mean()))  # if seen in part


def mean_squares(y: Array) -> tuple[float, float, float]:
    """The mean squares of annotators, items and the rest."""
    n, m = y.shape
    rows, columns = y.mean(axis=1), y.mean(axis=0)
    rest = ((y - rows[:, None] - columns + y.mean()) ** 2).sum()
    return m * rows.var(ddof=1), n * columns.var(ddof=1), rest / ((n - 1) * (m - 1))


def complete_spread(y: Array) -> tuple[float, float, int]:
    """Standard error, its degrees of freedom and the fewest, of the scores with one more item."""
    n, m = y.shape
    a, i, e = mean_squares(y)
    raw = a + i - e
    df = satterthwaite(raw, (a, n - 1), (i, m - 1), (e, (n - 1) * (m - 1)))
    se = np.sqrt(max(raw, a, i) / (n * m))
    return se, min(max(df, n - 1), m - 1), min(n - 1, m - 1)


def gap_spread(y: Array, extra: float) -> tuple[float, float, int] | None:
    """The same where annotators did not all see the same items, by least squares: the one more item
    comes in as one that as many saw as the others. None where annotators cannot be told apart."""
    person, item = np.nonzero(~np.isnan(y))
    score, (n, m), observed, sparse = y[person, item], y.shape, len(person), scipy.sparse
    answers, viewers = np.bincount(person), np.bincount(item)
    seen = sparse.csr_array((np.ones(observed), (person, item)), (n, m))
    common = (seen * (1 / viewers)) @ seen.T
    groups, group_of = sparse.csgraph.connected_components(common, directed=False)
    left = observed - n - m + groups
    if 2 * (viewers == 1).sum() > m or left < 1:
        return None
    # Of annotators, once the items' means are eliminated; one of each group is held at 0.
    centred = score - (np.bincount(item, score) / viewers)[item]
    free = np.setdiff1d(np.arange(n), np.unique(group_of, return_index=True)[1])
    sums: Array = np.bincount(person, centred)[free]
    equations: Any = sparse.csc_array(sparse.diags_array(answers.astype(float)) - common)
    explained = max(0.0, float(sums @ sparse.linalg.splu(equations[free][:, free]).solve(sums)))
    rest = max(0.0, float(centred @ centred) - explained)
    by_row = score - (np.bincount(person, score) / answers)[person]
    items = max(0.0, float(by_row @ by_row) - rest)
    weight = 1 / (m * viewers[item])
    c_a = (np.bincount(person, weight) ** 2).sum() / (observed - m)
    c_i = 1 / m / (observed - n)
    c_e = weight @ weight - c_a * (n - groups) - c_i * (m - groups)
    apart = (np.nanmean(y, axis=0).mean() - extra) / (m + 1)
    a = c_a * explained * (m / (m + 1)) ** 2
    i = (m - 1) / (m + 1) * c_i * items + apart**2
    e = (m - 1) / (m + 1) * c_e * rest / left - c_a * explained / (m + 1) ** 2
    raw = a + i + e
    df = satterthwaite(raw, (a, n - groups), (i, m), (e, left + observed / m - 1))
    return np.sqrt(max(raw, a, i)), min(max(df, n - 1), m), min(n - 1, m)


def satterthwaite(total: float, *terms: tuple[float, float]) -> float:
    spread = sum(term**2 / df for term, df in terms if df > 0)
    return total**2 / spread if spread else np.nan


def quantile(df: float) -> float:
    return float(scipy.special.stdtrit(df, (1 + LEVEL) / 2))


def around(mean: float, low: float, high: float) -> tuple[float, float]:
    return max(min(low, mean), 0.0), min(max(high, mean), 1.0)


def wilson(mean: float, effective: float, t: float) -> tuple[float, float]:
    c = t**2 / effective
    centre, half = (mean + c / 2) / (1 + c), np.sqrt(c * mean * (1 - mean) + c**2 / 4) / (1 + c)
    return around(mean, centre - half, centre + half)


def interval(y: Array, estimand: str, *, has_gaps: bool) -> tuple[float, Limits, str | None]:
    """Mean, interval and its method; of two people the guard band."""
    n, m = y.shape
    mean = min(max(np.nanmean(y, axis=0).mean(), 0.0), 1.0)
    nothing = mean, (None, None), None
    if n < 2:
        return nothing
    if estimand == "these_items":
        if has_gaps or m < 2:
            return nothing
        a, _, e = mean_squares(y)
        half = quantile(n - 1) * np.sqrt(max(a, e + 1 / (n * m)) / (n * m))
        return mean, around(mean, mean - half, mean + half), "t"
    extra = 1.0 if mean < 0.5 - 1e-9 else 0.0
    longer = np.column_stack([y, np.full(n, extra)])
    spread = gap_spread(y, extra) if has_gaps else complete_spread(longer)
    if spread is None:
        return nothing
    se, df, least = spread
    p = np.nanmean(longer, axis=0).mean()
    limits = wilson(mean, p * (1 - p) / se**2, quantile(least if n == 2 else df))
    return mean, limits, "guard" if n == 2 else "wilson-gaps" if has_gaps else "wilson"


# The figures of one cell


def cell_figures(
    members: Sequence[tuple[int, Row]],
    sets: Mapping[tuple[str, str], Mapping[str, str]],
    scores: Mapping[int, Mapping[str, float]],
    estimand: str,
) -> Row:
    """members: the assignments that count, with their batches; scores: theirs by example."""
    columns: dict[str, str] = {}
    for _, batch in members:
        columns |= sets[batch["task"], batch["test_set"]]
    y = np.array([[scores[who].get(pk, np.nan) for pk in columns] for who, _ in members])
    answered = ~np.isnan(y).all(axis=1)
    if not answered.any():
        return {"n": len(members)}
    kept = ~np.isnan(y).all(axis=0)
    y = y[answered][:, kept]
    batches = [batch for (_, batch), has_any in zip(members, answered, strict=True) if has_any]
    if any(batch["episode"] is not None for batch in batches):
        return over_episodes(y, [batch["episode"] for batch in batches], estimand)
    clusters = [cluster for cluster, is_kept in zip(columns.values(), kept, strict=True) if is_kept]
    z = cluster_scores(y, clusters)
    mean, limits, method = interval(z, estimand, has_gaps=bool(np.isnan(y).any()))
    means = np.nanmean(y, axis=1)
    figures: Row = {"mean": mean, "n": len(means), "ci_method": method}
    figures["sd"] = means.std(ddof=1) if len(means) > 1 else None
    figures["m"] = z.shape[1]
    figures["ci_low"], figures["ci_high"] = limits
    return figures


def over_episodes(y: Array, episodes: Sequence[int], estimand: str) -> Row:
    """The figures over episodes as FLEX reports them: SD (ddof 0), and the percentile bootstrap."""
    by_episode = defaultdict(list)
    for episode, row in zip(episodes, y, strict=True):
        by_episode[episode].append(np.nanmean(row))
    means = np.array([np.mean(values) for values in by_episode.values()])
    size = len(means)
    figures: Row = {"mean": means.mean(), "sd": means.std(), "n": len(y), "m": size}
    if size < 2 or estimand != "new_items":
        return figures
    picked = np.random.default_rng(SEED).integers(0, size, (RESAMPLES, size))
    low, high = np.quantile(means[picked].mean(axis=1), [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return figures | {"m": size, "ci_low": low, "ci_high": high, "ci_method": "episode-bootstrap"}


# The whole table


def rebuilt(read: Callable[[str], Iterator[Row]]) -> Iterator[Row]:
    """The rows that figures.jsonl asks for, from the other files. read(name) gives a file's
    objects, one after another."""
    tasks = {row["task"]: row for row in read("tasks.jsonl")}
    batches = {row["batch"]: row for row in read("batches.jsonl")}
    sets: Any = defaultdict(dict)
    for row in read("items.jsonl"):
        sets[row["task"], row["set"]][row["example"]] = row.get("cluster") or row["context_hash"]
    golds: dict[tuple[str, str], list[list[str]]] = {}
    for row in read("gold.jsonl"):  # in the order of their versions: the newest stays
        golds[row["task"], row["example"]] = row["alternatives"]
    members = list(read("assignments.jsonl"))
    task_of = {row["assignment"]: batches[row["batch"]]["task"] for row in members}
    scores: Any = {"set": defaultdict(dict), "any": defaultdict(dict)}
    for row in filter(lambda row: row["role"] == "test", read("judgements.jsonl")):
        task, who, example = task_of[row["assignment"]], row["assignment"], row["example"]
        for references, of in scores.items():
            like = tasks[task]["normalisation"]
            of[who][example] = score(row["answer"], golds[task, example], references, like)
    cells: dict[tuple[Any, ...], list[tuple[int, Row]]] = defaultdict(list)
    for row in members:
        kind = "simulated" if row["simulated"] else "human"
        batch = batches[row["batch"]]
        if row["outcome"] == "completed":
            for with_excluded in (True,) if row["excluded"] else (True, False):
                key = kind, batch["task"], batch["shots"], batch.get("pool"), with_excluded
                cells[key].append((row["assignment"], batch))
    for row in read("figures.jsonl"):
        # Bundles from before there were pools name none.
        asked = {name: row.get(name) for name in KEY}
        names = ("kind", "task", "shots", "pool", "with_excluded")
        cell = cells.get(tuple(asked[name] for name in names), [])
        figures = cell_figures(cell, sets, scores[row["references"]], row["asked"]) if cell else {}
        asked["ci_method"] = figures.get("ci_method")
        yield asked | {name: in_percent(name, figures.get(name)) for name in NUMBERS}


def in_percent(name: str, value: float | None) -> float | int | None:
    if value is None or np.isnan(value):
        return None
    return int(value) if name in ("n", "m") else 100 * float(value)


def distance(ours: Row, theirs: Row) -> float:
    """The largest difference of two rows; infinite where one has a figure and the other has not."""
    if ours["ci_method"] != theirs["ci_method"]:
        return np.inf
    pairs = [(ours[name], theirs[name]) for name in NUMBERS]
    pairs = [pair for pair in pairs if pair != (None, None)]
    return max((np.inf if None in pair else abs(pair[0] - pair[1]) for pair in pairs), default=0.0)


def read_folder(folder: Path) -> Callable[[str], Iterator[Row]]:
    def read(name: str) -> Iterator[Row]:
        with (folder / name).open(encoding="utf-8") as lines:
            yield from map(json.loads, lines)

    return read


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, default=Path(__file__).parent)
    read = read_folder(parser.parse_args().folder)
    farthest = 0.0
    for row, published in zip(rebuilt(read), read("figures.jsonl"), strict=True):
        farthest = max(farthest, distance(row, published))
        shown = [f"{row[name]:.12g}" if row[name] is not None else "-" for name in NUMBERS]
        print(*[row[name] for name in KEY], row["ci_method"] or "-", *shown, sep="\t")
    print(f"The largest difference from figures.jsonl: {farthest:.3g}", file=sys.stderr)
    sys.exit(farthest > CLOSE)


if __name__ == "__main__":
    main()
