"""The reporting sheet: what a reader of a human baseline asks, each question answered from the
study's rows or left to the researcher.

The topics follow the checklist of Wei et al. 2025 (REFERENCE), in our own words; its text is not
ours to copy.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from functools import partial

from django.db.models import TextChoices

from scoring.report import answers
from scoring.report.facts import Facts

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


@dataclass(frozen=True)
class Topic:
    group: str
    name: str
    question: str
    source: Source
    answer: str


# What is known about a topic.
Answer = Callable[[Facts], str]


class About(Enum):
    """Without these people, their topics are the researcher's."""

    PLAN = auto()
    ANYBODY = auto()
    COUNTED = auto()


@dataclass(frozen=True)
class _Question:
    group: str
    name: str
    question: str
    source: Source
    answer: Answer
    # Whom the answer speaks of.
    about: About


def sheet(facts: Facts) -> list[Topic]:
    return [_filled(question, facts) for question in QUESTIONS]


def _filled(asked: _Question, facts: Facts) -> Topic:
    source, answer = asked.source, asked.answer(facts)
    if asked.about == About.ANYBODY and not facts.people.joined:
        source, answer = Source.RESEARCHER, NONE_BEGUN
    elif asked.about == About.COUNTED and not facts.has_people:
        source, answer = Source.RESEARCHER, NOBODY
    elif asked.about != About.PLAN and facts.is_rehearsal and answer:
        answer = SIMULATED + answer
    return Topic(asked.group, asked.name, asked.question, source, answer)


def _nothing(facts: Facts, *, why: str = "") -> str:
    return why


def _ask(group: str, name: str, question: str, *, why: str = "") -> _Question:
    """What no row of a study can tell."""
    return _Question(
        group, name, question, Source.RESEARCHER, partial(_nothing, why=why), About.PLAN
    )


def _tell(
    group: str,
    name: str,
    question: str,
    answer: Answer,
    *,
    part: bool = False,
    about: About = About.COUNTED,
) -> _Question:
    source = Source.PART if part else Source.DATA
    return _Question(group, name, question, source, answer, about)


ABOUT, DESIGN, RECRUITMENT = "The evaluation", "Design", "Recruitment"
EXECUTION, ANALYSIS, DOCUMENTS = "Execution", "Analysis", "Documentation"

QUESTIONS: tuple[_Question, ...] = (
    _tell(
        ABOUT,
        "Subject",
        "What is evaluated, and in which languages?",
        answers.evaluated,
        about=About.PLAN,
    ),
    _tell(
        ABOUT,
        "Items",
        "How many items are people and systems scored on?",
        answers.items,
        about=About.PLAN,
    ),
    _tell(
        ABOUT,
        "Answers of systems",
        "How many answers to an item does each system give?",
        answers.answers_of_systems,
        about=About.PLAN,
    ),
    _tell(DESIGN, "Number of people", "How many people make up the baseline?", answers.people),
    _ask(DESIGN, "Choice of items", "If the items are a sample, how were they drawn?"),
    _tell(DESIGN, "Answers of people", "How many people answered each item?", answers.cells),
    _tell(
        DESIGN,
        "Items for one person",
        "How many items did one person answer?",
        answers.items_each,
        about=About.PLAN,
    ),
    _ask(
        DESIGN,
        "Fairness to both sides",
        "Were items and instructions made so that neither people nor systems have an advantage?",
    ),
    _ask(
        DESIGN,
        "Trial runs",
        "Was the set-up tried out and improved beforehand, such as by a pilot or by experts?",
    ),
    _tell(
        DESIGN,
        "Effort",
        "Is the effort of people and systems comparable?",
        answers.effort,
        part=True,
    ),
    _tell(
        DESIGN,
        "Size",
        "How was the number of people decided on, and how small a difference could it show?",
        answers.size,
        part=True,
    ),
    _tell(
        DESIGN,
        "Ethics",
        "Which board reviewed or exempted the study?",
        answers.consent,
        part=True,
        about=About.PLAN,
    ),
    _tell(
        DESIGN,
        "Registration",
        "Was the plan registered publicly before the start?",
        answers.frozen,
        part=True,
        about=About.PLAN,
    ),
    _ask(
        RECRUITMENT,
        "Population",
        "Which people are the figures meant to describe, and by which traits is that group "
        "defined?",
    ),
    _tell(
        RECRUITMENT,
        "Sampling",
        "How were people found?",
        answers.sampling,
        part=True,
        about=About.ANYBODY,
    ),
    _ask(
        RECRUITMENT,
        "Conditions of entry",
        "Who could take part, and how many were turned away? Filters of the channel count too.",
    ),
    _ask(RECRUITMENT, "Own team", "Did authors or members of the team work as annotators?"),
    _tell(
        RECRUITMENT,
        "Earlier exposure",
        "Could annotators have seen the items before?",
        answers.exposure,
        part=True,
        about=About.PLAN,
    ),
    _tell(
        RECRUITMENT,
        "Training",
        "How were people trained, and paid for it?",
        answers.training,
        about=About.PLAN,
    ),
    _tell(
        RECRUITMENT,
        "Pay",
        "What was paid, with which bonuses, and was it the same for all?",
        answers.pay,
        about=About.ANYBODY,
    ),
    _tell(
        EXECUTION,
        "Order",
        "In which order did people see the items, and was it random?",
        answers.item_order,
        about=About.PLAN,
    ),
    _tell(
        EXECUTION,
        "Quality checks",
        "Which checks excluded work, and how much of it?",
        answers.quality,
        about=About.ANYBODY,
    ),
    _tell(
        EXECUTION,
        "Same interface",
        "Did people and systems get the items in the same form, and what follows if not?",
        answers.interface,
        part=True,
        about=About.PLAN,
    ),
    _tell(
        EXECUTION,
        "Same instructions",
        "Did people and systems get the same instructions?",
        answers.instructions,
        part=True,
        about=About.PLAN,
    ),
    _ask(
        EXECUTION,
        "Tools",
        "Which tools could people and systems use, and how was that enforced?",
        why="The pages neither offer tools nor watch what else runs on an annotator's device.",
    ),
    _tell(
        EXECUTION,
        "Explanations",
        "Were annotators asked for the reasons for their answers?",
        partial(_nothing, why="No: answers are collected, reasons are not."),
        about=About.PLAN,
    ),
    _tell(ANALYSIS, "Tests", "Was the difference to systems tested, and how?", answers.tests),
    _tell(
        ANALYSIS,
        "Uncertainty",
        "Which uncertainty is given beside the figures?",
        answers.uncertainty,
    ),
    _tell(
        ANALYSIS,
        "Same scoring",
        "Are people and systems scored by the same metric, criteria and method?",
        answers.same_metric,
        about=About.PLAN,
    ),
    _tell(ANALYSIS, "Robustness", "Do the figures hold without the exclusions?", answers.robust),
    _ask(
        DOCUMENTS,
        "Demographics",
        "Who were the annotators, within the sample?",
        why="The study's pages ask annotators nothing about themselves.",
    ),
    _tell(
        DOCUMENTS,
        "Instructions",
        "What were annotators told?",
        partial(_nothing, why="The task descriptions are at the end of the methods section."),
        about=About.PLAN,
    ),
    _tell(DOCUMENTS, "Time", "How long did people take per item?", answers.times),
    _ask(DOCUMENTS, "Assistants", "If annotators could use AI tools: which, in which versions?"),
    _tell(
        DOCUMENTS,
        "Completion",
        "How many began and did not finish?",
        answers.completion,
        about=About.ANYBODY,
    ),
    _tell(
        DOCUMENTS,
        "Availability of data",
        "Are the answers public, person by person, and if not, why; under which licence are the "
        "data?",
        answers.data,
        part=True,
        about=About.PLAN,
    ),
    _ask(DOCUMENTS, "Availability of materials", "Are the materials of the study public?"),
    _ask(DOCUMENTS, "Availability of code", "Is the code of the analysis public?"),
)
