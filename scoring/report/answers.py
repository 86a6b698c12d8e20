"""How a study's rows answer the questions of the reporting sheet."""

from collections.abc import Iterable

from annotation.kinds import answer_kind
from scoring.comparison.rows import Row
from scoring.models import method_label
from scoring.report.agreement import in_words
from scoring.report.conduct import ended
from scoring.report.facts import Facts
from scoring.report.words import (
    alternatives,
    between,
    capital,
    counted,
    day,
    listed,
    money,
    percent,
)


def evaluated(facts: Facts) -> str:
    kinds = [f"{task.name} ({task.task.kind}, {task.task.language})" for task in facts.design.tasks]
    return f"Benchmark {facts.study.benchmark}: {listed(kinds)}. Text only."


def items(facts: Facts) -> str:
    parts = [f"{task.name} {task.items}" for task in facts.design.tasks]
    total = sum(task.items for task in facts.design.tasks)
    sides = (
        " Systems are compared with people on the items that both sides answered."
        if facts.results.systems
        else ""
    )
    return f"{counted(total, 'test item')}: {listed(parts)}.{sides}"


def answers_of_systems(facts: Facts) -> str:
    rows = facts.results.systems
    if not rows:
        return "No system is stored on the cells of this study."
    return "One answer to an item in each run. " + _sentence(
        f"{_named(row)} on {row.task} with {row.shots} shots: {counted(row.n or 0, 'run')}"
        for row in rows
    )


def _named(row: Row) -> str:
    method = method_label(row.method)
    return f"{row.system} ({method})" if method else str(row.system)


def people(facts: Facts) -> str:
    people = facts.people
    counts = counted(people.counted, "assignment counts", "assignments count")
    by = counted(people.counted_persons, "person", "people")
    return (
        f"{capital(counts)}, by {by}; {counted(people.persons, 'person', 'people')} took part in "
        "all."
    )


def size(facts: Facts) -> str:
    """From the cells as they came out."""
    known = sorted(
        ((cell.detectable, cell.name) for cell in facts.results.cells if cell.detectable),
    )
    wanted = f"{counted(facts.design.wanted, 'place was', 'places were')} planned."
    if not known:
        return wanted
    points = listed(f"{smallest:.1f} points ({name})" for smallest, name in known)
    return (
        f"{wanted} With the people and items that count, and as much variation as their scores "
        "show, the smallest difference from one run of a system that is shown four times out of "
        f"five is {points}; the system's answers are taken to vary as people's do."
    )


def cells(facts: Facts) -> str:
    """Annotators of each item: not every batch of a cell has all items."""
    return _sentence(
        f"{cell.row.task} with {cell.row.shots} shots: {_fewest_to_most(cell.answers_an_item)}"
        for cell in facts.results.cells
    )


def _fewest_to_most(answers: tuple[int, int]) -> str:
    fewest, most = answers
    return str(most) if fewest == most else f"{fewest} to {most}"


def items_each(facts: Facts) -> str:
    return (
        f"Test items of one assignment: {alternatives(facts.design.test_items)}, after "
        f"{alternatives(facts.design.training_items)} training examples. An assignment may take "
        "one sitting or several: it can be left and resumed."
    )


def effort(facts: Facts) -> str:
    earned = facts.pay
    if earned.minutes is None:
        return ""
    return (
        f"People: a median of {earned.minutes:.1f} minutes for a completed assignment, paid by the "
        f"hour; an item has no time limit, but at most {facts.study.item_cap_s} s of it are "
        "paid. The cost and time of the systems are not stored."
    )


def frozen(facts: Facts) -> str:
    if facts.study.started_at is None:
        return "The study has not been started."
    return (
        "The plan was frozen with checksums when the study started "
        f"on {day(facts.study.started_at)}; that is not a public registration."
    )


def consent(facts: Facts) -> str:
    words = len(facts.study.consent_text.split())
    asked = (
        "Before any work annotators consented to the text at the end of the methods section "
        f"({counted(words, 'word')})."
    )
    return asked if words else "No consent text is stored."


def sampling(facts: Facts) -> str:
    study, people = facts.study, facts.people
    if facts.is_rehearsal:
        return "Nobody was recruited."
    when = f" {between(people.first, people.last or people.first)}" if people.first else ""
    how = "by personal links" if study.channel.invited_only else "by an open link"
    return f"Through {study.channel}, {how}{when}."


def exposure(facts: Facts) -> str:
    return (
        "In this installation nobody is given the same content twice, across studies and versions "
        "of a benchmark. What annotators saw elsewhere is not known; nor is what systems saw in "
        "their training, where a published benchmark may have been part of it."
    )


def training(facts: Facts) -> str:
    if not any(facts.design.shots):
        return "None: the study is zero-shot."
    sizes = [str(size) for size in facts.design.training_items if size]
    return (
        f"{alternatives(sizes)} labelled examples, each answered before its reference answer was "
        "shown. "
        "They do not count towards the test; their time is paid at the same rate, also for those "
        "who are screened out."
    )


def pay(facts: Facts) -> str:
    study, earned = facts.study, facts.pay
    rate = f"{money(study.hourly_rate, study.currency)} an hour of work, for everybody alike."
    if earned.hourly is None or earned.amount is None:
        return rate
    return (
        f"{rate} A completed assignment was due a median of "
        f"{money(earned.amount, study.currency)}: an effective median of "
        f"{money(earned.hourly, study.currency)} an hour, breaks included. The amounts include no "
        "bonus; only the channel knows whether they were paid out."
    )


def item_order(facts: Facts) -> str:
    return (
        "Every annotator saw the items in an order of their own, from a stored seed; items of one "
        "context stayed together."
    )


def quality(facts: Facts) -> str:
    out, excluded = facts.training.screened_out, facts.people.excluded
    screened = (
        f"Screened out by training score: {out.count} of {out.total} ({percent(out.percent)})."
        if out.total
        else "Nobody finished a training."
    )
    if not facts.has_screening:
        screened = "The study has no screening rule."
    if not excluded.total:
        return f"{screened} No assignment was completed."
    reasons = [f"“{reason}” ({count})" for reason, count in facts.people.reasons.items()]
    return (
        f"{screened} Excluded: {excluded.count} of "
        f"{counted(excluded.total, 'completed assignment')} ({percent(excluded.percent)})"
        + (f", for {listed(reasons)}." if reasons else ".")
    )


def interface(facts: Facts) -> str:
    ways = dict.fromkeys(answer_kind(task.task.kind).in_words for task in facts.design.tasks)
    return (
        f"People worked in a browser, where {alternatives(ways)}. Systems' answers were read from "
        "files as texts."
    )


def instructions(facts: Facts) -> str:
    return (
        "People read the task descriptions given in the methods section, and the question of "
        "each item. What systems were given is not stored."
    )


def tests(facts: Facts) -> str:
    results = facts.results
    if not results.systems:
        return "No system is stored on the cells of this study, so nothing was tested."
    if not results.tests:
        return "Cells of episodes are compared on their board, and not tested here."
    return " ".join(filter(None, [_family(facts), _outside_family(facts)]))


def _family(facts: Facts) -> str:
    family = facts.results.family
    if not family:
        return "No cell has the five annotators that a claim takes."
    clear = sum(test.p_holm <= 0.05 for test in family)
    return (
        f"{capital(counted(len(family), 'paired t test'))} over annotators, runs and item clusters "
        f"in cells of at least five annotators, adjusted by Holm's method: {clear} with p ≤ 0.05."
    )


def _outside_family(facts: Facts) -> str:
    results = facts.results
    told = [
        f"{counted(len(results.exploratory_tests), 'test')} in smaller cells "
        f"{'is' if len(results.exploratory_tests) == 1 else 'are'} exploratory and not adjusted."
        if results.exploratory_tests
        else "",
        f"{capital(counted(len(results.without_test), 'comparison'))} "
        f"{'has' if len(results.without_test) == 1 else 'have'} too few annotators or items for a "
        "test."
        if results.without_test
        else "",
    ]
    return " ".join(filter(None, told))


def uncertainty(facts: Facts) -> str:
    cells = facts.results.cells
    with_interval = sum(cell.row.ci_low is not None for cell in cells)
    with_sd = sum(cell.row.sd is not None for cell in cells)
    told = (
        f"A 95 % interval for new items beside {with_interval} and an SD beside {with_sd} of "
        f"{counted(len(cells), 'cell')}."
    )
    return " ".join(filter(None, [told, in_words(facts)]))


def same_metric(facts: Facts) -> str:
    beside = any(cell.accord for cell in facts.results.cells)
    return (
        f"The mean S1 over the items for both, by one code (scorer version "
        f"{facts.scorer_version}), against the same reference answers. People's figure is the mean "
        f"annotator, not a vote{'; the consensus is given beside it' if beside else ''}."
    )


def robust(facts: Facts) -> str:
    if not facts.people.excluded.count:
        return "No completed assignment was excluded."
    told = [
        f"{cell.row.task} with {cell.row.shots} shots {cell.row.mean:.1f} without, "
        f"{cell.with_excluded.mean:.1f} with the excluded"
        for cell in facts.results.cells
        if cell.with_excluded and cell.with_excluded.mean is not None
    ]
    gone = facts.results.emptied
    lost = f"Every annotator was excluded from {listed(gone)}." if gone else ""
    sides = "Mean S1, where annotators were excluded: " + _sentence(told) if told else ""
    return " ".join(filter(None, [sides, lost]))


def times(facts: Facts) -> str:
    seconds = facts.results.seconds_an_item
    if seconds is None:
        return ""
    return f"A median of {seconds:.1f} s for a test item, by the server's clock."


def completion(facts: Facts) -> str:
    people = facts.people
    left, ends = people.did_not_finish, ended(people.unfinished)
    at_work = f" {people.at_work} more still at work." if people.at_work else ""
    return (
        f"{left.count} of {left.total} begun with consent ({percent(left.percent)})"
        + (f": {listed(ends)}." if ends else ".")
        + at_work
    )


def data(facts: Facts) -> str:
    """In the words of whoever imported the benchmark."""
    source = facts.study.benchmark.source.strip()
    terms = f" Of the benchmark it is noted: {source}" if source else ""
    return f"The judgements can be exported with pseudonyms, one row per answer.{terms}"


def _sentence(parts: Iterable[str]) -> str:
    return f"{'; '.join(parts)}."
