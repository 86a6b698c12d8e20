"""Inviting: a list of people in, a personal link for each of them out."""

import csv
import io
from collections.abc import Callable, Iterator, Sequence

from annotation.access.identity import identity_hash
from annotation.models import Annotator, Invitation, Study, StudyState
from annotation.models.errors import BadInput
from scoring.tables.documents import csv_line, from_cell

HEADINGS = frozenset({"id", "external_id", "person", "participant", "participant_id", "email"})
LONGEST_ID = 200


def read_people(text: str) -> list[str]:
    """The ids in the first column of a CSV text, each once, in order.

    A heading in the first line, such as `id` or `email`, is skipped. Raises BadInput with the line
    that cannot be used.
    """
    people: dict[str, None] = {}
    for line, person in _first_column(text):
        if not person or (not people and person.lower() in HEADINGS):
            continue
        if len(person) > LONGEST_ID or not person.isprintable():
            raise BadInput(f"Line {line}: an id is at most {LONGEST_ID} ordinary characters long.")
        people[person] = None
    if not people:
        raise BadInput("No ids were found: write one person per line, the id first.")
    return list(people)


def invite(study: Study, people: Sequence[str]) -> list[Invitation]:
    """An invitation for each of these people; those who have one keep it, and its link."""
    if study.state == StudyState.CLOSED:
        raise BadInput("This study is closed: nobody can be invited any more.")
    _check_erased(study, people)
    Invitation.objects.bulk_create(
        [Invitation(study=study, external_id=person) for person in people], ignore_conflicts=True
    )
    return list(study.invitations.filter(external_id__in=people).order_by("id"))


def links_csv(study: Study, link_of: Callable[[Invitation], str]) -> Iterator[str]:
    yield csv_line(["id", "link"], end="\r\n")
    for invitation in study.invitations.order_by("id"):
        yield csv_line([invitation.external_id, link_of(invitation)], end="\r\n")


def _first_column(text: str) -> Iterator[tuple[int, str]]:
    delimiter = max(",;\t", key=text.split("\n", 1)[0].count)
    rows = csv.reader(io.StringIO(text.removeprefix("\ufeff")), delimiter=delimiter)
    try:
        for row in rows:
            yield rows.line_num, from_cell(row[0].strip()) if row else ""
    except csv.Error as problem:
        raise BadInput(
            f"Line {rows.line_num} cannot be read as CSV: write one person per line, the id first."
        ) from problem


def _check_erased(study: Study, people: Sequence[str]) -> None:
    """Erased people are not recorded again by an old list."""
    by_hash = {identity_hash(study.channel, person): person for person in people}
    erased = Annotator.objects.filter(
        channel=study.channel, erased_at__isnull=False, identity_hash__in=by_hash
    ).first()
    if erased is not None:
        person = by_hash[erased.identity_hash]
        raise BadInput(f"“{person}” asked to be erased and cannot be invited: take the line out.")
