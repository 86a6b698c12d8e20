"""The reporting sheet: what a reader of a human baseline asks, each question answered from the
study's rows or left to the researcher.

The topics follow the checklist of Wei et al. 2025 (REFERENCE), in our own words (sheet.txt); its
text is not ours to copy.
"""

from dataclasses import dataclass
from enum import Enum, auto

from django.db.models import TextChoices

from scoring.report.facts import Facts
from scoring.report.methods import paragraphs, told

REFERENCE = (
    "K. L. Wei, P. Paskov, S. Dev, M. J. Byun, A. Reuel, X. Roberts-Gaal, R. Calcott, E. Coxon and "
    "C. Deshpande (2025): Recommendations and Reporting Checklist for Rigorous & Transparent Human "
    "Baselines in Model Evaluations. ICML 2025, arXiv:2506.13776."
)


NOBODY = "No person whose answers count has taken part."
NONE_BEGUN = "No person has begun the study."
SIMULATED = "Rehearsal with simulated annotators: "


class Source(TextChoices):
    DATA = "data", "from the study's data"
    PART = "part", "in part: the researcher completes it"
    RESEARCHER = "researcher", "for the researcher to answer"


class About(Enum):
    """Without these people, their topics are the researcher's."""

    PLAN = auto()
    ANYBODY = auto()
    COUNTED = auto()


DATA, PART, RESEARCHER = Source
PLAN, ANYBODY, COUNTED = About


@dataclass(frozen=True)
class Topic:
    group: str
    name: str
    question: str
    source: Source
    answer: str


# By group: the topic, who answers it, and whom the answer speaks of.
TOPICS: dict[str, tuple[tuple[str, Source, About], ...]] = {
    "The evaluation": (
        ("Subject", DATA, PLAN),
        ("Items", DATA, PLAN),
        ("Answers of systems", DATA, PLAN),
    ),
    "Design": (
        ("Number of people", DATA, COUNTED),
        ("Choice of items", RESEARCHER, PLAN),
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


def _answered(source: Source, about: About, answer: str, facts: Facts) -> tuple[Source, str]:
    if about == ANYBODY and not facts.people.joined:
        return RESEARCHER, NONE_BEGUN
    if about == COUNTED and not facts.has_people:
        return RESEARCHER, NOBODY
    if about != PLAN and facts.is_rehearsal and answer:
        return source, SIMULATED + answer
    return source, answer
