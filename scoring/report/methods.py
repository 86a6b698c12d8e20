"""The methods section of a study, written from its facts: what its rows say, and no more."""

from annotation.models import Outcome, StudyState
from scoring.report import conduct, measures, plan
from scoring.report.agreement import agreement
from scoring.report.facts import Facts
from scoring.report.section import Section, paragraph
from scoring.report.words import capital, counted

PLANNED = (plan.design, plan.procedure, plan.screening)
HAPPENED = (conduct.recruitment, conduct.exclusions)
MEASURED = (measures.scoring, measures.uncertainty, agreement, measures.tests)


def methods(facts: Facts) -> list[Section]:
    """Without a person's counted answers, what there is to say about the plan alone."""
    writers = [*PLANNED]
    if facts.people.joined:
        writers += HAPPENED
    writers.append(conduct.pay)
    if facts.has_people:
        writers += MEASURED
    writers += [measures.data, plan.instructions]
    written = [_opening(facts), *(write(facts) for write in writers)]
    return [section for section in written if section.paragraphs]


def nobody(facts: Facts) -> str:
    """The first sentence of a report in which no person's answers count; else empty."""
    if facts.has_people:
        return ""
    people = facts.people
    if people.simulated:
        finished = counted(people.simulated, "finished assignment")
        return (
            f"No person's answers count in this study: its {finished} are of simulated "
            "annotators, and nothing in this report describes people."
        )
    if people.outcomes[Outcome.COMPLETED]:
        return "No person's answers count in this study: all completed assignments were excluded."
    return "No person has completed this study yet: this report describes its plan."


def _opening(facts: Facts) -> Section:
    study = facts.study
    lines = [nobody(facts)]
    if study.state == StudyState.DRAFT:
        lines.append("The study has not been started; everything below can still change.")
    elif study.state != StudyState.CLOSED:
        lines.append(f"The study is {study.state}, so the figures below are provisional.")
    if facts.has_people and facts.people.simulated:
        lines.append(
            f"{capital(counted(facts.people.simulated, 'finished assignment'))} of simulated "
            "annotators are left out of everything below."
        )
    return Section("Summary", paragraph(lines))
