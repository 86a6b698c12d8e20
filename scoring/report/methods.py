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
    writers += [measures.data, plan.consent, plan.instructions]
    written = [_opening(facts), *(write(facts) for write in writers)]
    return [section for section in written if section.paragraphs]


def nobody(facts: Facts) -> str:
    """The first sentence of a report in which no person's answers count; else empty."""
    if facts.has_people:
        return ""
    people = facts.people
    if people.outcomes[Outcome.COMPLETED]:
        return "No person's answers count in this study: all completed assignments were excluded."
    if people.joined:
        return "No person has completed this study: there are no figures to report."
    return "No person has begun this study: this report describes its plan."


def _rehearsal(facts: Facts) -> str:
    finished = facts.people.outcomes[Outcome.COMPLETED]
    were = counted(finished, "finished assignment")
    return (
        f"A rehearsal: {were} of simulated annotators, and no person's. Whatever this report says "
        "of annotators, people and their pay is about the simulated ones; nothing in it describes "
        "people."
    )


def _opening(facts: Facts) -> Section:
    study = facts.study
    lines = [_rehearsal(facts) if facts.is_rehearsal else nobody(facts)]
    if study.state == StudyState.DRAFT:
        lines.append("The study has not been started; everything below can still change.")
    elif study.state != StudyState.CLOSED:
        lines.append(f"The study is {study.state}, so the figures below are interim.")
    simulated = facts.people.simulated
    if simulated and not facts.is_rehearsal:
        lines.append(
            f"{capital(counted(simulated, 'finished assignment'))} of simulated annotators "
            f"{'is' if simulated == 1 else 'are'} left out of everything below."
        )
    return Section("Summary", paragraph(lines))
