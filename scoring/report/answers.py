"""How a study's rows answer the questions of the reporting sheet."""

from collections.abc import Iterable

from annotation.models import Outcome
from scoring.report.agreement import in_words
from scoring.report.conduct import OUTCOMES
from scoring.report.facts import Facts
from scoring.report.words import between, capital, counted, day, listed, money, percent


def evaluated(facts: Facts) -> str:
    kinds = [
        f"{task.task.slug} ({task.task.kind}, {task.task.language})" for task in facts.design.tasks
    ]
    return f"Benchmark {facts.study.benchmark}: {listed(kinds)}. Text only."


def items(facts: Facts) -> str:
    parts = [f"{task.task.slug} {task.items}" for task in facts.design.tasks]
    total = sum(task.items for task in facts.design.tasks)
    return f"{total} test items: {listed(parts)}. People and systems are scored on the same ones."


def answers_of_systems(facts: Facts) -> str:
    rows = facts.results.systems
    if not rows:
        return "No system is stored on the cells of this study."
    return "One answer to an item in each run. " + _sentence(
        f"{row.system} ({row.method}) on {row.task} with {row.shots} shots: "
        f"{counted(row.n or 0, 'training split or run', 'training splits or runs')}"
        for row in rows
    )


def people(facts: Facts) -> str:
    people = facts.people
    return (
        f"{capital(counted(people.persons, 'person', 'people'))} took part; "
        f"{counted(people.counted, 'assignment counts', 'assignments count')}."
    )


def cells(facts: Facts) -> str:
    """Annotators of each item: everybody in a cell answers the whole test set."""
    return _sentence(
        f"{cell.row.task} with {cell.row.shots} shots: {cell.row.n}" for cell in facts.results.cells
    )


def items_each(facts: Facts) -> str:
    sizes = sorted({task.items // task.test_sets for task in facts.design.tasks})
    training = [str(size) for size in facts.design.training_items]
    return (
        f"Test items of one assignment: {_or(sizes)}, after {_or(training)} training examples. An "
        "assignment may take one sitting or several: it can be left and resumed."
    )


def effort(facts: Facts) -> str:
    found = facts.pay
    if found.minutes is None:
        return ""
    return (
        f"People: a median of {found.minutes:.1f} minutes for a completed assignment, paid by the "
        "hour, with no time limit per item. The cost and time of the systems are not stored."
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
    asked = f"Annotators consented to a text of {words} words before any work."
    return asked if words else "No consent text is stored."


def sampling(facts: Facts) -> str:
    study, people = facts.study, facts.people
    when = f" {between(people.first, people.last or people.first)}" if people.first else ""
    how = "by personal links" if study.channel.invited_only else "by an open link"
    return f"Through {study.channel}, {how}{when}."


def exposure(facts: Facts) -> str:
    return (
        "In this installation nobody is given the same content twice, across studies and versions "
        "of a benchmark. What annotators saw elsewhere is not known."
    )


def training(facts: Facts) -> str:
    if not any(facts.design.shots):
        return "None: the study is zero-shot."
    sizes = [str(size) for size in facts.design.training_items if size]
    return (
        f"{_or(sizes)} labelled examples, each answered before its reference answer was shown. "
        "They do not count towards the test; their time is paid at the same rate, also for those "
        "who are screened out."
    )


def pay(facts: Facts) -> str:
    study, found = facts.study, facts.pay
    rate = f"{money(study.hourly_rate, study.currency)} an hour of work, for everybody alike."
    if found.hourly is None or found.amount is None:
        return rate
    return (
        f"{rate} A completed assignment was due a median of "
        f"{money(found.amount, study.currency)}: an effective median of "
        f"{money(found.hourly, study.currency)} an hour, breaks included. The amounts include no "
        "bonus; only the channel knows whether they were paid out."
    )


def order(facts: Facts) -> str:
    return (
        "Every annotator saw the items in an order of their own, from a stored seed; items of one "
        "context stayed together."
    )


def quality(facts: Facts) -> str:
    out, excluded = facts.training.screened_out, facts.people.excluded
    screened = (
        f"Screened out by training score: {out.count} of {out.total} ({percent(out.percent)})."
        if out.total
        else "Nobody went through a training."
    )
    reasons = [f"“{reason}” ({count})" for reason, count in facts.people.reasons.items()]
    return (
        f"{screened} Excluded afterwards: {excluded.count} of {excluded.total} completed "
        f"assignments ({percent(excluded.percent)})"
        + (f", for {listed(reasons)}." if reasons else ".")
    )


def interface(facts: Facts) -> str:
    return (
        "People worked in a browser: they chose a label, selected pieces of the text or chose a "
        "marked entity. Systems' answers were read from files as texts."
    )


def instructions(facts: Facts) -> str:
    return (
        "People read the task descriptions given in the methods section, and the question of "
        "each item. What systems were given is not stored."
    )


def tests(facts: Facts) -> str:
    tests = facts.results.tests
    if not tests:
        return "No system is stored on the cells of this study, so nothing was tested."
    sure = [test for test in tests if test.p_holm < 0.05 and not test.exploratory]
    return (
        f"{counted(len(tests), 'paired t test')} over annotators, runs and item clusters, adjusted "
        f"by Holm's method: {len(sure)} with p < 0.05 and at least five annotators."
    )


def uncertainty(facts: Facts) -> str:
    with_interval = [cell for cell in facts.results.cells if cell.row.ci_low is not None]
    told = (
        f"95 % intervals for new items beside {len(with_interval)} of "
        f"{counted(len(facts.results.cells), 'cell')}, and the SD over annotators."
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
    return "Mean S1, where annotators were excluded: " + _sentence(told)


def times(facts: Facts) -> str:
    seconds = facts.results.seconds_an_item
    if seconds is None:
        return ""
    return f"A median of {seconds:.1f} s for a test item, by the server's clock."


def completion(facts: Facts) -> str:
    people = facts.people
    left = [
        f"{people.outcomes[key]} {words}"
        for key, words in OUTCOMES.items()
        if key != Outcome.COMPLETED and people.outcomes[key]
    ]
    return (
        f"{people.completed.count} of {people.completed.total} who gave consent "
        f"({percent(people.completed.percent)})"
        + (f"; of everybody, {listed(left)}." if left else ".")
    )


def _sentence(parts: Iterable[str]) -> str:
    return f"{'; '.join(parts)}."


def _or(values: Iterable[object]) -> str:
    texts = [str(value) for value in values]
    return " or ".join([", ".join(texts[:-1]), texts[-1]]) if len(texts) > 1 else "".join(texts)
