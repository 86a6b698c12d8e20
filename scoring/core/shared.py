"""Averages over tasks of which people did several: persons are taken together over their tasks.

Scores are in [0, 1]. Each function raises ValueError unless there is a matrix for each task, and a
person for each of its rows. The variance is the sum over persons of the covariances of their own
deviations, with Satterthwaite's degrees of freedom (1946).
"""

from collections import defaultdict
from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from scoring.core.comparison import (
    PEOPLE_ON_EXTRA,
    SYSTEM_ON_EXTRA,
    sample_terms,
    t_test,
    with_two_more,
)
from scoring.core.intervals import check_level
from scoring.core.variance import (
    Floats,
    item_means,
    mean_squares,
    satterthwaite,
    t_quantile,
    wilson_limits,
    with_one_more,
    within,
)
from scoring.core.verdicts import AverageDifference, AverageInterval

# Who each row of a task is, task by task.
Persons = Sequence[Sequence[Hashable]]


def shared_average(
    people: Sequence[ArrayLike], persons: Persons, *, level: float = 0.95
) -> AverageInterval:
    """Wilson's interval around the mean of T tasks (n_t × m_t scores, one column a cluster), where
    who did several counts once. NaN but for the mean where a task has gaps or a single person."""
    check_level(level)
    tasks = _matrices(people, persons)
    mean = float(np.mean([item_means(y).mean() for y in tasks]))
    if not _is_complete(tasks):
        return AverageInterval(mean, *[np.nan] * 5)
    longer, count = [with_one_more(y) for y in tasks], len(tasks)
    between, squared = _between(longer, persons)
    items, noise = [], []
    for y in longer:
        squares, (n, m) = mean_squares(y), y.shape
        items.append((float(squares.item) / (n * m * count**2), m - 1))
        noise.append((float(squares.residual) / (n * m * count**2), (n - 1) * (m - 1)))
    of_items, of_noise = (sum(term for term, _ in terms) for terms in (items, noise))
    plain = between + of_items - of_noise
    df = satterthwaite(plain, squared, *items, *noise)
    df = within(df, min(map(len, tasks)) - 1, sum(y.shape[1] for y in tasks))
    variance = max(plain, between, of_items)
    p = float(np.mean([y.mean() for y in longer]))
    effective = p * (1 - p) / variance
    low, high = map(float, wilson_limits(mean, effective, t_quantile(df, level)))
    return AverageInterval(mean, float(np.sqrt(variance)), float(df), effective, low, high)


def shared_difference(
    people: Sequence[ArrayLike],
    system: Sequence[ArrayLike],
    persons: Persons,
    *,
    level: float = 0.95,
) -> AverageDifference:
    """The mean of the tasks' differences from the system's runs (r_t × m_t, a fixed row below
    five), in the same way; p of the two-sided t."""
    check_level(level)
    tasks, runs = _matrices(people, persons), [np.asarray(y, float) for y in system]
    apart = [item_means(h) - item_means(s) for h, s in zip(tasks, runs, strict=True)]
    difference = float(np.clip(np.mean([d.mean() if d.size else np.nan for d in apart]), -1, 1))
    least = min(map(len, tasks))
    if not _is_complete([*tasks], runs):
        nan = np.nan
        return AverageDifference(difference, nan, nan, nan, nan, nan, nan, least)
    longer = [with_two_more(y, PEOPLE_ON_EXTRA, is_sample=True) for y in tasks]
    theirs = [with_two_more(y, SYSTEM_ON_EXTRA, is_sample=False) for y in runs]
    samples = [y for y in theirs if len(y) > 1]
    spread = [item_means(h) - item_means(s) for h, s in zip(longer, theirs, strict=True)]
    between, squared = _between(longer, persons)
    share = len(tasks) ** 2
    items = [(float(d.var(ddof=1)) / len(d) / share, len(d) - 1) for d in spread]
    of_runs = [(term / share, df) for y in samples for term, df in [sample_terms(y)[0]]]
    noise = [(term / share, df) for y in (*longer, *samples) for term, df in [sample_terms(y)[1]]]
    sampled = between + sum(term for term, _ in of_runs)
    of_items = sum(term for term, _ in items)
    variance = max(sampled + of_items - sum(term for term, _ in noise), sampled, of_items)
    df = satterthwaite(variance, squared, *items, *of_runs, *noise)
    df = within(df, min(map(len, (*tasks, *samples))) - 1, sum(len(d) - 1 for d in spread))
    se = float(np.sqrt(variance))
    t, p, low, high = t_test(difference, se, float(df), level)
    return AverageDifference(difference, se, float(df), t, p, low, high, least)


def shared_without_each(
    people: Sequence[ArrayLike], system: Sequence[ArrayLike], persons: Persons
) -> list[AverageDifference]:
    """`shared_difference` without each person in turn, out of all of their tasks at once."""
    tasks = [np.asarray(y, float) for y in people]
    differences = []
    for person in dict.fromkeys(name for task in persons for name in task):
        kept = [[name != person for name in task] for task in persons]
        left = [y[rows] for y, rows in zip(tasks, kept, strict=True)]
        who = [[name for name in task if name != person] for task in persons]
        differences.append(shared_difference(left, system, who))
    return differences


def _matrices(people: Sequence[ArrayLike], persons: Persons) -> list[Floats]:
    tasks = [np.asarray(y, float) for y in people]
    if not tasks or [len(y) for y in tasks] != [len(task) for task in persons]:
        raise ValueError("Give a matrix for each task, and who each of its rows is.")
    return tasks


def _is_complete(tasks: Sequence[Floats], runs: Sequence[Floats] = ()) -> bool:
    has_gaps = any(np.isnan(y).any() for y in (*tasks, *runs))
    return not has_gaps and all(len(y) > 1 and y.shape[1] > 1 for y in tasks)


def _between(tasks: Sequence[Floats], persons: Persons) -> tuple[float, tuple[float, float]]:
    """What persons add to the variance of the average, P; and, as a term with degrees of freedom
    of its own, what its square adds below Satterthwaite's fraction, √Q with 1."""
    sizes = [len(y) for y in tasks]
    deviations: dict[Hashable, dict[int, float]] = defaultdict(dict)
    for place, (y, who) in enumerate(zip(tasks, persons, strict=True)):
        means = y.mean(axis=1)
        for person, apart in zip(who, means - means.mean(), strict=True):
            deviations[person][place] = float(apart)
    products, common = np.zeros((2, len(tasks), len(tasks)))
    for apart in deviations.values():
        for s in apart:
            for t in apart:
                products[s, t] += apart[s] * apart[t]
                common[s, t] += 1
    n = np.array(sizes, float)
    shares = common * (1 - 1 / n[:, None] - 1 / n) + common**2 / np.outer(n, n)
    covariance = np.divide(products, shares, out=np.zeros_like(products), where=common > 0)
    covariance /= np.outer(n, n) * len(tasks) ** 2
    total, squared = 0.0, 0.0
    for apart in deviations.values():
        places = list(apart)
        value = float(covariance[np.ix_(places, places)].sum())
        least = min(sizes[place] for place in places)
        total += value
        squared += value**2 * least / (least - 1)
    return total, (float(np.sqrt(squared)), 1.0)
