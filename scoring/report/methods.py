"""The words of a report, its templates filled with the facts of a study: the methods section, and
the reporting sheet, where what readers ask is answered from the study's rows or left to the
researcher. Its topics follow Wei et al. 2025 (REFERENCE) in our own words, not theirs to copy."""

from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from typing import Any

from django.db.models import TextChoices
from django.template import Context
from django.template.loader import get_template
from django.utils.html import strip_tags
from django.utils.text import slugify

from annotation.kinds import answer_kind
from annotation.kinds.markup import markdown_html
from scoring.report.facts import Facts
from scoring.report.result_tables import agreement_table, results_table, tests_table
from scoring.report.words import few, without_stop
from scoring.tables.documents import escaped, latex_table
from scoring.tables.table import Table

PAY = "Pay"
SIMULATED = "{} with simulated annotators"
# Each a part of methods.txt; those without a sentence are left out.
WRITTEN = (
    *("Summary", "Design", "Procedure", "Screening", "Recruitment", "Exclusions", PAY, "Scoring"),
    *("Systems and margin", "Uncertainty", "Agreement", "Tests", "Signs of programs"),
)
TABLES = {"Uncertainty": results_table, "Agreement": agreement_table, "Tests": tests_table}


@dataclass(frozen=True)
class Section:
    title: str
    paragraphs: tuple[str, ...]
    table: Table | None = None


def latex_section(section: Section) -> str:
    parts = [rf"\subsection{{{escaped(section.title)}}}", *map(escaped, section.paragraphs)]
    if section.table:
        parts.append(latex_table(section.table))
    return "\n\n".join(parts)


def methods(facts: Facts) -> list[Section]:
    context = told(facts)
    written = [
        Section(title, tuple(paragraphs("methods", title, context)), _table(title, facts))
        for title in WRITTEN
    ]
    quoted = [
        Section(title, tuple(line for line in lines if line.strip()))
        for title, lines in (
            ("Data and their terms", _terms(facts)),
            ("Consent text", _lines(facts.study.consent_text)),
            ("Instructions shown to annotators", _instructions(facts)),
        )
    ]
    return [section for section in (*written, *quoted) if section.paragraphs]


def _table(title: str, facts: Facts) -> Table | None:
    table = TABLES[title](facts.results) if title in TABLES else None
    table = facts.signs.table if title == "Signs of programs" else table
    return table if table and table.lines else None


def told(facts: Facts) -> dict[str, Any]:
    return {
        "facts": facts,
        "study": facts.study,
        "currency": facts.study.currency,
        "plan": facts.design,
        "people": facts.people,
        "training": facts.training,
        "checks": facts.checks,
        "pay": facts.pay,
        "results": facts.results,
        "who": facts.results.who,
        "population": facts.design.population(facts.results.who),
        "persons": "SIMULATED PERSON,SIMULATED PEOPLE" if facts.is_rehearsal else "person,people",
    }


def paragraphs(document: str, part: str, context: dict[str, Any]) -> list[str]:
    """The paragraphs of a part of a template, whose lines are joined up to each line with ¶
    alone."""
    template: Any = get_template(f"scoring/report/{document}.txt#{slugify(part)}")
    text = template.template.render(Context(context, autoescape=False))
    lines = [line.strip(" ") for line in text.split("\n")]
    marked = ("\n" if line == "¶" else line for line in lines if line)
    return [paragraph for one in " ".join(marked).split("\n") if (paragraph := one.strip(" "))]


def _terms(facts: Facts) -> Iterator[str]:
    """Speaks in the words of whoever imported the benchmark, and of the audit."""
    terms = facts.study.benchmark.source.strip()
    yield from (terms or "No source or licence has been recorded for the benchmark.").splitlines()
    for task in facts.design.tasks:
        if task.warnings:
            yield f"Known problems of {task.name}: {' '.join(task.warnings)}"
        if lost := facts.study.frozen.get("unanswerable", {}).get(task.task.slug):
            yield (
                f"No answer gets {few(lost, 'test item')} of {task.name} wholly right; they stayed "
                f"for this reason: “{without_stop(facts.study.unanswerable_reason)}”."
            )


def _lines(text: str) -> list[str]:
    """The lines of a text in Markdown, without its signs but for the dashes of a list."""
    html = markdown_html(text.strip()).replace("<li>", "<li>- ")
    return unescape(strip_tags(html)).splitlines()


def _instructions(facts: Facts) -> Iterator[str]:
    for task in facts.design.tasks:
        if task.description:
            yield f"{task.name} (“{task.task.heading}”):"
            yield from _lines(answer_kind(task.task.kind).described(task.description))
    for name, (checked, description) in facts.design.check_descriptions.items():
        yield f"{name} (“{checked.heading}”), before the checks:"
        yield from _lines(answer_kind(checked.kind).described(description))


REFERENCE = (
    "K. L. Wei, P. Paskov, S. Dev, M. J. Byun, A. Reuel, X. Roberts-Gaal, R. Calcott, E. Coxon and "
    "C. Deshpande (2025): Recommendations and Reporting Checklist for Rigorous & Transparent Human "
    "Baselines in Model Evaluations. ICML 2025, arXiv:2506.13776."
)


NOBODY = "No person whose answers count has taken part."
NONE_BEGUN = "No person has begun the study."


class Source(TextChoices):
    DATA = "data", "from the study's data"
    PART = "part", "in part: the researcher completes it"
    RESEARCHER = "researcher", "for the researcher to answer"


DATA, PART, RESEARCHER = Source
# Whom an answer speaks of: without these people its topic is the researcher's.
PLAN, ANYBODY, COUNTED = "plan", "anybody", "counted"


@dataclass(frozen=True)
class Topic:
    group: str
    name: str
    question: str
    source: Source
    answer: str


# By group: the topic, who answers it, and whom the answer speaks of.
TOPICS: dict[str, tuple[tuple[str, Source, str], ...]] = {
    "The evaluation": (
        ("Subject", DATA, PLAN),
        ("Items", DATA, PLAN),
        ("Answers of systems", DATA, PLAN),
    ),
    "Design": (
        ("Number of people", DATA, COUNTED),
        ("Choice of items", PART, PLAN),
        ("Answers of people", DATA, COUNTED),
        ("Items for one person", DATA, PLAN),
        ("Fairness to both sides", RESEARCHER, PLAN),
        ("Trial runs", RESEARCHER, PLAN),
        ("Effort", PART, COUNTED),
        ("Size", PART, COUNTED),
        ("Ethics", PART, PLAN),
        ("Registration", PART, PLAN),
    ),
    "Recruitment": (
        ("Population", RESEARCHER, PLAN),
        ("Sampling", PART, ANYBODY),
        ("Conditions of entry", RESEARCHER, PLAN),
        ("Own team", RESEARCHER, PLAN),
        ("Earlier exposure", PART, PLAN),
        ("Training", DATA, PLAN),
        ("Pay", DATA, ANYBODY),
    ),
    "Execution": (
        ("Order", DATA, PLAN),
        ("Quality checks", DATA, ANYBODY),
        ("Same interface", PART, PLAN),
        ("Same instructions", PART, PLAN),
        ("Tools", RESEARCHER, PLAN),
        ("Explanations", DATA, PLAN),
    ),
    "Analysis": (
        ("Tests", DATA, COUNTED),
        ("Uncertainty", DATA, COUNTED),
        ("Same scoring", DATA, PLAN),
        ("Robustness", DATA, COUNTED),
    ),
    "Documentation": (
        ("Demographics", RESEARCHER, PLAN),
        ("Instructions", DATA, PLAN),
        ("Time", DATA, COUNTED),
        ("Assistants", RESEARCHER, PLAN),
        ("Completion", DATA, ANYBODY),
        ("Availability of data", PART, PLAN),
        ("Availability of materials", RESEARCHER, PLAN),
        ("Availability of code", RESEARCHER, PLAN),
    ),
}


def sheet(facts: Facts) -> list[Topic]:
    context = told(facts)
    topics = []
    for group, those in TOPICS.items():
        for name, source, about in those:
            question, *answers = paragraphs("sheet", name, context)
            answered = _answered(source, about, "".join(answers), facts)
            topics.append(Topic(group, name, question, *answered))
    return topics


def _answered(source: Source, about: str, answer: str, facts: Facts) -> tuple[Source, str]:
    if about == ANYBODY and not facts.people.joined:
        return RESEARCHER, NONE_BEGUN
    if about == COUNTED and not facts.has_people:
        return RESEARCHER, NOBODY
    if about != PLAN and facts.is_rehearsal and answer:
        return source, f"{SIMULATED.format(facts.sort.capitalize())}: {answer}"
    return source, answer
