"""How a study stands, its people, what leaves it as tables, and its payments, over the API."""

from typing import Any

from django.http import Http404, StreamingHttpResponse
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import exceptions, serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access.api import (
    CONFLICT,
    LINES,
    ONE,
    SENT,
    Conflict,
    files,
    form_of,
    formats,
    list_of,
    object_of,
    page_request,
    stream,
    taken,
    user_of,
    wrong_with,
)
from annotation.access.requests import invitation_link, join_links
from annotation.access.rights import Right, rights_in
from annotation.access.serializers import Fields, ListOf, Name, Text, Whole
from annotation.api.studies import OfStudies
from annotation.models import Assignment, Invitation, JoinAnswer, Study, clock
from annotation.models.texts import is_key, nearest
from annotation.payments.ledger import COLUMNS, NONE_OPEN, dues, export_payments, open_bonuses
from annotation.people.flags import labels
from annotation.people.overview import overview
from annotation.people.rows import COLUMNS as OF_PEOPLE
from annotation.people.rows import STATES, Row, chosen, columns_for, row_of, rows
from annotation.people.views import assignment_in, filters_in
from annotation.studies.exported_judgements import csv_lines, json_lines, json_rows
from annotation.studies.exported_tables import EXPORTS
from annotation.studies.lifecycle import want_more
from annotation.studies.monitoring import StudyFigures, progress_of, study_figures
from annotation.studies.people import (
    LONGEST_REASON,
    NO_REASON,
    exclude,
    ids_once,
    invite,
    lift_exclusion,
)
from annotation.studies.tabs import CHANGE
from annotation.studies.views import chosen_in, table_and_study
from annotation.work.places import release_place
from scoring.tables.table import Column, columns_in

# A pseudonym, or the id of an assignment.
PERSON = r"(?P<person>[A-Z\d]+)"
FILE = files("application/x-ndjson", "text/csv")
_TABLES = "|".join(name for name in EXPORTS if name != "people")


PROGRESS, BATCHES = (columns_in(__file__, name).values() for name in ("progress", "batches"))
# The number that release and exclude take as well, and the columns of everybody's page.
PERSON_COLUMNS = (Column("id", meaning="their place, as release and exclude take it"), *OF_PEOPLE)
_PERSON = object_of(PERSON_COLUMNS)
_PEOPLE = {
    "type": "object",
    "properties": {"count": {"type": "integer"}, "results": list_of(PERSON_COLUMNS)},
}
_PROGRESS = object_of(PROGRESS)
_PROGRESS["properties"] |= {"batches": list_of(BATCHES)}


class ExclusionSerializer(Fields):
    reason = Text(
        max_length=LONGEST_REASON, error_messages={"blank": NO_REASON, "required": NO_REASON}
    )


class PlacesSerializer(Fields):
    wanted = Whole(min_value=1, max_value=10_000, help_text="How many people, in all.")


class InviteSerializer(Fields):
    people = ListOf(child=Text(), min_length=1, max_length=10_000, help_text="Their ids.")
    pool = Name(required=False, help_text="The short name of theirs.")


class InvitationSerializer(serializers.Serializer[Any]):
    id = serializers.CharField(source="external_id")
    pool = serializers.CharField(source="pool.slug", default=None, allow_null=True)
    link = serializers.SerializerMethodField()

    def get_link(self, invitation: Invitation) -> str:
        return invitation_link(self.context["request"], invitation)


class PeopleViewSet(OfStudies):
    @extend_schema(
        request=PlacesSerializer,
        responses={200: object_of(BATCHES), **ONE, **SENT, 409: CONFLICT},
    )
    @action(detail=True, methods=["post"], url_path=r"batches/(?P<batch>\d+)/places")
    def places(self, request: Request, slug: str, batch: str) -> Response:
        """More places in a batch that has started; no verdict is sure then."""
        study = self.study(Right.SET_UP, "annotation.change_batch")
        if not is_key(batch):
            raise Http404
        row = get_object_or_404(study.batches, pk=int(batch))
        want_more(row, **taken(request, PlacesSerializer), by=user_of(request))
        batches = progress_of(study, study_figures(study, at=clock.now()))["batches"]
        return Response(next(batch for batch in batches if batch["id"] == row.pk))

    @extend_schema(responses={200: InvitationSerializer(many=True), **ONE})
    @action(detail=True)
    def invitations(self, request: Request, slug: str) -> Response:
        """Who is invited, each with a link of their own."""
        return self._invited(self.study(Right.IDS, "annotation.view_invitation"))

    @extend_schema(
        operation_id="studies_invite",
        request=InviteSerializer,
        responses={200: InvitationSerializer(many=True), **ONE, **SENT},
    )
    @invitations.mapping.post
    def invite(self, request: Request, slug: str) -> Response:
        """Invite people by their ids; who has an invitation keeps it, and its link."""
        study = self.study(Right.IDS, "annotation.add_invitation")
        sent = taken(request, InviteSerializer)
        pool = study.pools.filter(slug=sent.get("pool")).first()
        if "pool" in sent and pool is None:
            known = nearest(sent["pool"], study.pools.values_list("slug", flat=True))
            raise exceptions.ValidationError({"pool": [f"There is no such pool; {known}"]})
        with wrong_with("people"):
            invite(study, ids_once(enumerate(sent["people"], start=1)), pool=pool)
        return self._invited(study)

    def _invited(self, study: Study) -> Response:
        invited = study.invitations.select_related("pool").order_by("pk")
        context = {"request": self.request}
        return Response(InvitationSerializer(invited, many=True, context=context).data)

    @extend_schema(responses={200: _PROGRESS, **ONE})
    @action(detail=True)
    def progress(self, request: Request, slug: str) -> Response:
        """All figures of the overview; null where the role, or the token, doesn't open one."""
        study, now = self.study(Right.TABLES), clock.now()
        everybody, rights = rows(study), rights_in(user_of(request), study)
        figures = StudyFigures(study, [row.person for row in everybody], at=now)
        page = overview(study, everybody, figures, rights=rights, at=now)
        # The grid of the page: its numbers are those of the batches.
        for key in ("shots", "lines", "can_change"):
            del page[key]
        if page["flags"] is not None:
            page["flags"] = {flag.name: len(having) for flag, having in page["flags"]}
        if page["problems"] is not None:
            keys = ("example", "item", "count")
            page["problems"] = [dict(zip(keys, values, strict=True)) for values in page["problems"]]
        links = join_links(page_request(request), study) if Right.SET_UP in rights else []
        return Response({**progress_of(study, figures), **page, "links": dict(links)})

    @extend_schema(
        parameters=[
            formats("json", "jsonl", "csv"),
            OpenApiParameter(
                "state", enum=[*dict(STATES)], description="How their work ended, or working."
            ),
            OpenApiParameter("flag", enum=["any", *labels()], description="Who has that flag."),
            OpenApiParameter("batch", int, description="The `id` of a batch, as in the progress."),
        ],
        responses={200: _PEOPLE, **FILE, **ONE},
    )
    @action(detail=True)
    def people(self, request: Request, slug: str) -> Response | StreamingHttpResponse:
        """Lists people by pseudonym: state, progress, flags; `id` is what release and exclude
        take."""
        study = self.study(Right.PEOPLE, "annotation.view_assignment")
        form = form_of(request, ("json", *LINES))
        rights = rights_in(user_of(request), study)
        filters = filters_in(page_request(request))
        batches = [str(pk) for pk in study.batches.values_list("pk", flat=True)]
        if (batch := request.query_params.get("batch")) not in (None, *batches):
            sentence = f"There is no such batch; {nearest(str(batch), batches)}"
            raise exceptions.ValidationError({"batch": [sentence]})
        shown = chosen(rows(study), **filters)
        if form == "csv":
            return stream(csv_lines(columns_for(rights), shown), f"{slug}-people-shown", form)
        records = [_record(row, study, rights) for row in shown]
        if form == "jsonl":
            return stream(json_lines(records), f"{slug}-people-shown", form)
        return Response({"count": len(records), "results": records})

    @extend_schema(request=None, responses={200: _PERSON, **ONE, 409: CONFLICT})
    @action(detail=True, methods=["post"], url_path=f"people/{PERSON}/release")
    def release(self, request: Request, slug: str, person: str) -> Response:
        """Open the place of somebody who does not go on."""
        study = self.study(Right.PEOPLE, CHANGE)
        assignment = _assignment(study, person)
        release_place(assignment, at=clock.now(), by=user_of(request))
        return self._person(assignment)

    @extend_schema(
        request=ExclusionSerializer,
        responses={200: _PERSON, **ONE, **SENT, 409: CONFLICT},
    )
    @action(detail=True, methods=["post"], url_path=f"people/{PERSON}/exclude")
    def exclude(self, request: Request, slug: str, person: str) -> Response:
        """Leave somebody's work out, for the `reason` that is sent; outcome, code and pay stay."""
        study = self.study(Right.PEOPLE, "annotation.add_exclusion")
        assignment = _assignment(study, person)
        exclude(assignment, **taken(request, ExclusionSerializer), author=user_of(request))
        return self._person(assignment)

    @extend_schema(request=None, responses={200: _PERSON, **ONE, 409: CONFLICT})
    @exclude.mapping.delete
    def lift(self, request: Request, slug: str, person: str) -> Response:
        """Have somebody's work count again; completed work needs a place for that."""
        study = self.study(Right.PEOPLE, "annotation.delete_exclusion")
        assignment = _assignment(study, person)
        lift_exclusion(assignment, by=user_of(request))
        return self._person(assignment)

    def _person(self, assignment: Assignment) -> Response:
        study = assignment.study
        row = row_of(study, assignment.pk)
        if row is None:
            raise Http404
        return Response(_record(row, study, rights_in(user_of(self.request), study)))

    @extend_schema(
        operation_id="studies_table",
        parameters=[
            formats(*LINES),
            OpenApiParameter("table", str, OpenApiParameter.PATH, enum=_TABLES.split("|")),
            *(OpenApiParameter(name, bool) for name in ("simulated", "with_excluded")),
        ],
        responses={**FILE, **ONE},
    )
    @action(detail=True, url_path=f"(?P<table>{_TABLES})")
    def table(self, request: Request, slug: str, table: str) -> StreamingHttpResponse:
        """A table of the study, line by line; its columns are those of the dictionary."""
        asked = page_request(request)
        export, study = table_and_study(asked, slug, table)
        form = form_of(request, LINES)
        return stream(export.lines(study, chosen_in(asked), form), f"{slug}-{table}", form)

    @extend_schema(
        parameters=[formats("jsonl", "csv", "prolific")],
        responses={**FILE, **ONE, 409: CONFLICT},
    )
    @action(detail=True)
    def payments(self, request: Request, slug: str) -> StreamingHttpResponse:
        """What everybody is due, was paid and is still to get; as `prolific` the bonuses that are
        approved and unsent alone."""
        study, form = self.study(Right.PAY), form_of(request, (*LINES, "prolific"))
        if form == "jsonl":
            due = ({"study": study, "due": due} for due in dues(study))
            return stream(json_lines(json_rows(COLUMNS, due)), f"{slug}-payments", form)
        if form == "prolific" and not open_bonuses(study).dues:
            raise Conflict(NONE_OPEN)
        name = "payments" if form == "csv" else "bonuses"
        return stream(export_payments(study, form), f"{slug}-{name}", "csv")


def _record(row: Row, study: Study, rights: frozenset[Right]) -> dict[str, Any]:
    [record] = json_rows(columns_for(rights), [row])
    return {"id": row.person.pk, **record}


def _assignment(study: Study, person: str) -> Assignment:
    """Find it by the pseudonym; for whoever has several places in the study, by the `id` of one."""
    places = study.assignments.exclude(outcome=JoinAnswer.DECLINED)
    ids = [*places.filter(annotator__pseudonym=person).values_list("pk", flat=True).order_by("pk")]
    if len(ids) > 1:
        known = ", ".join(map(str, ids))
        raise Conflict(f"{person} has several places in this study: name one by its id ({known}).")
    if not ids and not is_key(person):
        raise Http404
    return assignment_in(study, *(ids or [int(person)]))
