"""How a study was planned: its design, its procedure, and its rule of screening."""

from collections.abc import Iterator

from annotation.kinds import answer_kind
from annotation.models import DropUnit
from scoring.report.facts import Facts
from scoring.report.section import Section, paragraph
from scoring.report.words import alternatives, capital, counted, day, listed, percent


def design(facts: Facts) -> Section:
    study, plan = facts.study, facts.design
    tasks = [f"{task.name} ({answer_kind(task.task.kind).in_words})" for task in plan.tasks]
    lines = [
        f"The study “{study.title}” asks what people score on "
        f"{counted(len(tasks), 'task')} of the benchmark {study.benchmark}: {listed(tasks)}.",
        f"{_learning(facts)} ({counted(plan.batches, 'batch', 'batches')} of task, shot set and "
        f"test set, {counted(plan.wanted, 'place')} in all).",
        *_items(facts),
        "Nobody works on the same data twice: an annotator holds at most one assignment per "
        "content, whatever the study, which the database enforces."
        + (
            " So the annotators of different shots of a task are different people."
            if any(len(task.shots) > 1 for task in plan.tasks)
            else ""
        ),
    ]
    if study.started_at:
        lines.append(
            f"Task descriptions, items, reference answers, pay and screening rules were frozen, "
            f"with checksums, when the study started on {day(study.started_at)}."
        )
    return Section("Design", paragraph(lines))


def _learning(facts: Facts) -> str:
    sizes = [size for size in facts.design.shots if size]
    if not sizes:
        return "Annotators see no labelled examples"
    without = ", or from none" if 0 in facts.design.shots else ""
    return f"Annotators learn from {alternatives(sizes)} labelled examples of their task{without}"


def _items(facts: Facts) -> Iterator[str]:
    sizes = [
        f"{task.name} {task.items}"
        + (f" in {task.contexts} contexts" if task.contexts < task.items else "")
        for task in facts.design.tasks
    ]
    splits = [f"{task.name} {task.splits}" for task in facts.design.tasks if task.splits]
    yield f"Items of the test: {listed(sizes)}."
    if splits:
        yield f"Training splits in use: {listed(splits)}."


def procedure(facts: Facts) -> Section:
    study = facts.study
    first = [
        "An annotator reads a description of the task, works through all training examples of "
        "the batch and then through its whole test set. After each training answer the "
        "reference answer is shown; the answer is stored before that and cannot be changed."
        if any(facts.design.shots)
        else "An annotator reads a description of the task and works through the whole test set of "
        "the batch, without any training.",
        "The test gives no feedback, and there is no second attempt.",
        "Annotators of zero-shot batches go from the description to the test."
        if 0 in facts.design.shots and any(facts.design.shots)
        else "",
    ]
    second = [
        "Each annotator sees the examples in an order of their own, which follows by SHA-256 from "
        "a stored seed; examples that share a context stay together. The order seed of every "
        "assignment is in the export of the judgements; the seed that chooses between equally "
        f"full batches is {study.seed}.",
    ]
    return Section("Procedure", (*paragraph(first), *paragraph(second)))


def screening(facts: Facts) -> Section:
    study = facts.study
    if not any(facts.design.shots):
        return Section("Training and screening", ())
    rules = []
    if study.min_training_score is not None:
        rules.append(f"scores below {percent(study.min_training_score)}")
    if study.max_drop is not None:
        unit = "points" if study.drop_unit == DropUnit.POINTS else "standard deviations"
        rules.append(
            f"scores more than {study.max_drop:g} {unit} below the mean of everybody else who "
            f"has finished the training of the same cell, once these are {study.drop_group_size}"
        )
    lines = [
        "The training score is the mean S1 of the first answers to the training examples.",
        f"An annotator is screened out who {' or '.join(rules)}; this is decided once, when the "
        "training ends."
        if rules
        else "The study has no screening rule: everybody who finishes the training goes on.",
        *_training_results(facts),
    ]
    return Section("Training and screening", paragraph(lines))


def _training_results(facts: Facts) -> Iterator[str]:
    training = facts.training
    if training.finished:
        sd = f" (SD {training.sd:.1f})" if training.sd is not None else ""
        yield (
            f"{capital(counted(training.finished, 'person', 'people'))} finished a training, with "
            f"a mean score of {percent(training.mean)}{sd}{_screened(facts)}."
        )
        if training.reasons:
            parts = {"floor": "below the floor", "drop": "too far below the group"}
            told = (f"{count} {parts.get(key, key)}" for key, count in training.reasons.items())
            yield f"Of these, {listed(told)}."


def _screened(facts: Facts) -> str:
    out = facts.training.screened_out
    if not facts.has_screening:
        return ""
    return (
        f"; {out.count} of them ({percent(out.percent)}) {'was' if out.count == 1 else 'were'} "
        "screened out"
    )


def consent(facts: Facts) -> Section:
    lines = facts.study.consent_text.splitlines()
    return Section("Consent as asked for", tuple(line for line in lines if line.strip()))


def instructions(facts: Facts) -> Section:
    paragraphs = [
        paragraph
        for task in facts.design.tasks
        if task.description
        for paragraph in (
            f"{task.name} (“{task.task.heading}”):",
            *task.description.splitlines(),
        )
        if paragraph.strip()
    ]
    return Section("Instructions as shown", tuple(paragraphs))
