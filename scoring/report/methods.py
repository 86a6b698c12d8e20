"""The words of a report: its templates, filled with the facts of a study."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.template import Context
from django.template.loader import get_template
from django.utils.text import slugify

from scoring.report.facts import Facts
from scoring.report.tables import (
    agreement_in_words,
    agreement_table,
    figures,
    results_table,
    tests_table,
)
from scoring.tables.table import Table

PAY = "Pay"
# Each a part of methods.txt; those without a sentence are left out.
WRITTEN = (
    *("Summary", "Design", "Procedure", "Training and screening", "Recruitment", "Exclusions"),
    *(PAY, "Scoring", "Uncertainty", "Agreement", "Tests"),
)
TABLES = {"Uncertainty": results_table, "Agreement": agreement_table, "Tests": tests_table}


@dataclass(frozen=True)
class Section:
    title: str
    paragraphs: tuple[str, ...]
    table: Table | None = None


def methods(facts: Facts) -> list[Section]:
    """The methods section: what the study's rows say, and no more."""
    context = told(facts)
    written = [
        Section(
            title,
            tuple(paragraphs("methods", title, context)),
            TABLES[title](facts.results) if title in TABLES else None,
        )
        for title in WRITTEN
    ]
    quoted = [
        Section(title, tuple(line for line in lines if line.strip()))
        for title, lines in (
            ("Data and their terms", _terms(facts)),
            ("Consent as asked for", facts.study.consent_text.splitlines()),
            ("Instructions as shown", _instructions(facts)),
        )
    ]
    return [section for section in (*written, *quoted) if section.paragraphs]


def told(facts: Facts) -> dict[str, Any]:
    """What the templates speak of."""
    alphas = [figures(cell)[name] for cell in facts.results.agreeing for name in ("masi", "empty")]
    return {
        "facts": facts,
        "study": facts.study,
        "currency": facts.study.currency,
        "plan": facts.design,
        "people": facts.people,
        "training": facts.training,
        "pay": facts.pay,
        "results": facts.results,
        "agreement": agreement_in_words(facts.results),
        "has_undefined_alpha": any(value is None for value, _text, _limits in alphas),
    }


def paragraphs(document: str, part: str, context: dict[str, Any]) -> list[str]:
    """Of a part of a template, whose lines are joined up to each line with ¶ alone."""
    template: Any = get_template(f"scoring/report/{document}.txt#{slugify(part)}")
    text = template.template.render(Context(context, autoescape=False))
    lines = [line.strip(" ") for line in text.split("\n")]
    marked = ("\n" if line == "¶" else line for line in lines if line)
    return [found for one in " ".join(marked).split("\n") if (found := one.strip(" "))]


def _terms(facts: Facts) -> Iterator[str]:
    """In the words of whoever imported the benchmark, and of the audit."""
    terms = facts.study.benchmark.source.strip()
    yield from (terms or "Source and licence of the benchmark are not stored.").splitlines()
    for task in facts.design.tasks:
        if task.warnings:
            yield f"Known problems of {task.name}: {' '.join(task.warnings)}"


def _instructions(facts: Facts) -> Iterator[str]:
    for task in facts.design.tasks:
        if task.description:
            yield f"{task.name} (“{task.task.heading}”):"
            yield from task.description.splitlines()
