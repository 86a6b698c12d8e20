"""Studies over the API: made, changed and read as their file is, and started, closed, rehearsed."""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import exceptions, mixins, serializers, status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from annotation.access.api import (
    CONFLICT,
    ONE,
    PAGED,
    SENT,
    Pages,
    Refusing,
    fields_of,
    form_of,
    formats,
    page_request,
    refused,
    user_of,
)
from annotation.access.requests import join_links
from annotation.access.rights import Right, may, studies
from annotation.jobs.requests import document
from annotation.models import Study, clock
from annotation.models.errors import Frozen
from annotation.simulation.rehearsing import job_of, order_rehearsal
from annotation.simulation.simulating import USUAL_CROWD
from annotation.studies.advice import start_advice
from annotation.studies.drafting import delete_draft
from annotation.studies.lifecycle import ACTS, STARTED, start_study, what_is_missing
from annotation.studies.study_file.applying import apply_study
from annotation.studies.study_file.reading import StudyFile
from annotation.studies.study_file.writing import as_toml, content_of
from annotation.studies.study_file.writing import document as tables_of
from annotation.studies.tabs import CHANGE, study_for

TOML = "application/toml"
CONTENT = {201: OpenApiTypes.OBJECT}
_ACTS = "pause|resume|close|archive|take-out"
ACT = OpenApiParameter("act", str, OpenApiParameter.PATH, enum=_ACTS.split("|"))


_changing = extend_schema(
    request=OpenApiTypes.OBJECT,
    parameters=[OpenApiParameter("If-Match", str, OpenApiParameter.HEADER)],
    responses={
        **{200: OpenApiTypes.OBJECT, **ONE, **SENT, 409: CONFLICT},
        412: refused("It was changed since."),
        428: refused("Without If-Match."),
    },
)


class StudySerializer(serializers.ModelSerializer[Study]):
    name = serializers.SlugField(source="slug")
    benchmark = serializers.SlugField(source="benchmark.name")
    sends_until = serializers.DateTimeField(
        allow_null=True, help_text="Of a closed study: until when a last page could be sent."
    )

    class Meta:
        model = Study
        fields = (
            *("name", "title", "benchmark", "state", "started_at", "closed_at", "sends_until"),
            "is_rehearsal",
        )
        read_only_fields = fields


class PreconditionRequired(exceptions.APIException):
    status_code = status.HTTP_428_PRECONDITION_REQUIRED
    default_detail = "Send the ETag of what you have read as If-Match, or * for any version."


class PreconditionFailed(exceptions.APIException):
    status_code = status.HTTP_412_PRECONDITION_FAILED
    default_detail = "The study was changed since it was read: read it again."


class OfStudies(Refusing, GenericViewSet[Study]):
    """What is below the address of a study."""

    queryset = Study.objects.none()
    lookup_field = "slug"
    lookup_value_regex = r"[-\w]+"
    pagination_class: type[Pages] | None = None
    # The schema describes them; OPTIONS would ask each for a serializer.
    metadata_class = None

    def study(self, right: Right, permission: str = "") -> Study:
        """That of the address, for whoever has the right in it and the permission."""
        request = page_request(self.request)
        study = study_for(request, self.kwargs["slug"], permission, right=right)
        self.refuse_fields()
        return study


@extend_schema_view(list=extend_schema(responses={200: StudySerializer(many=True), **PAGED}))
class StudyViewSet(mixins.ListModelMixin, OfStudies):
    serializer_class = StudySerializer
    pagination_class = Pages

    def get_queryset(self) -> Any:
        return studies(self.request.user).select_related("benchmark").order_by("-pk")

    @extend_schema(responses={**CONTENT, **ONE, **SENT}, request=OpenApiTypes.OBJECT)
    def create(self, request: Request) -> Response:
        """A draft, by the content of its file: tables as objects, with the keys of study.toml."""
        if not request.user.has_perm("annotation.add_study"):
            raise PermissionDenied
        made = apply_study(StudyFile(fields_of(request)), by=user_of(request), only_new=True)
        return self._told(made.study, status.HTTP_201_CREATED)

    @extend_schema(
        parameters=[formats("json", "toml")],
        responses={200: OpenApiTypes.OBJECT, (200, TOML): OpenApiTypes.STR, **ONE},
    )
    def retrieve(self, request: Request, slug: str) -> Response | HttpResponse:
        """The content of its file, with completion codes by a token that opens payments; the ETag
        says which version."""
        study = self.study(Right.SET_UP, CHANGE)
        file = self._told(study)
        if form_of(request, ("json", "toml")) == "json":
            return file
        answer = document(as_toml(file.data).encode(), TOML, f"{study.slug}.toml")
        answer["ETag"] = file["ETag"]
        return answer

    @_changing
    def update(self, request: Request, slug: str) -> Response:
        """Make it what the content says. What is left out is as usual; what a started study keeps
        may not differ."""
        return self._changed(request, {})

    @_changing
    def partial_update(self, request: Request, slug: str) -> Response:
        """Change the keys that are named (null: as usual); lists of tables are replaced whole."""
        return self._changed(request, tables_of(content_of(self.study(Right.SET_UP, CHANGE))))

    @transaction.atomic
    def _changed(self, request: Request, kept: Mapping[str, Any]) -> Response:
        study = self.study(Right.SET_UP, CHANGE)
        # One after the other: the second one finds another version.
        study = Study.objects.select_for_update().get(pk=study.pk)
        if not (matches := request.headers.get("If-Match")):
            raise PreconditionRequired
        # A proxy that compresses marks the version as weak.
        versions = {version.strip().removeprefix("W/") for version in matches.split(",")}
        if versions.isdisjoint({"*", _version(tables_of(content_of(study)))}):
            raise PreconditionFailed
        file = StudyFile(_merged(kept, fields_of(request)))
        if file.table("study").get("name") != study.slug:
            sentence = f"This is the study {study.slug}: leave its name as it is."
            raise file.wrong(("study", "name"), sentence)
        return self._told(apply_study(file, by=user_of(request)).study)

    def _told(self, study: Study, code: int = status.HTTP_200_OK) -> Response:
        content, codes = content_of(study), may(user_of(self.request), study, Right.CODES)
        version = _version(tables_of(content))
        return Response(tables_of(content, codes=codes), code, headers={"ETag": version})

    @extend_schema(responses={204: None, **ONE, 409: CONFLICT})
    def destroy(self, request: Request, slug: str) -> Response:
        """Delete a draft, with its batches. What has started is kept."""
        delete_draft(self.study(Right.MEMBERS, "annotation.delete_study"))
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(
        operation_id="studies_change_state",
        request=None,
        parameters=[ACT],
        responses={200: OpenApiTypes.OBJECT, **ONE, 409: CONFLICT},
    )
    @action(detail=True, methods=["post"], url_path=f"(?P<act>{_ACTS})")
    def change_state(self, request: Request, slug: str, act: str) -> Response:
        """Pause, resume or close it, archive a closed one or take it out: the study, with its
        `links` by whom they are for, and how many are `working`; of a closed one these may send
        their last page, until `sends_until`."""
        study = self.study(Right.SET_UP, CHANGE)
        ACTS[act](study, clock.now(), user_of(request))
        return Response(self._state_of(study))

    @extend_schema(responses={200: OpenApiTypes.OBJECT, **ONE, 409: CONFLICT})
    @action(detail=True)
    def start(self, request: Request, slug: str) -> Response:
        """Tell of a draft what is `missing`, and `warnings`: what to know before it is frozen."""
        study = self.study(Right.SET_UP, CHANGE)
        if study.is_frozen:
            raise Frozen(STARTED.format(study.slug))
        return Response({"missing": what_is_missing(study), "warnings": self._warnings(study)})

    @extend_schema(
        operation_id="studies_start",
        request=None,
        responses={200: OpenApiTypes.OBJECT, **ONE, 409: CONFLICT},
    )
    @start.mapping.post
    def start_now(self, request: Request, slug: str) -> Response:
        """Start it: the study, with its `links` by whom they are for, and the `warnings`. Where it
        lacks something, `missing` lists that."""
        study = self.study(Right.SET_UP, CHANGE)
        start_study(study, at=clock.now(), by=user_of(request))
        return Response({**self._state_of(study), "warnings": self._warnings(study)})

    def _warnings(self, study: Study) -> list[str]:
        return start_advice(study, host=self.request.get_host())

    def _state_of(self, study: Study) -> dict[str, Any]:
        links = dict(join_links(page_request(self.request), study))
        working = study.assignments.open().count()
        return {**StudySerializer(study).data, "links": links, "working": working}

    @extend_schema(request=None, responses={202: OpenApiTypes.OBJECT, **ONE, 409: CONFLICT})
    @action(detail=True, methods=["post"])
    def rehearse(self, request: Request, slug: str) -> Response:
        """Have a copy of a draft played by simulated annotators: the study that it is, its job."""
        study = self.study(Right.SET_UP, CHANGE)
        made = order_rehearsal(study, USUAL_CROWD, at=clock.now(), by=user_of(request))
        job = job_of(made)
        return Response({"study": made.slug, "job": job and job.pk}, status.HTTP_202_ACCEPTED)


def _version(tables: Mapping[str, Any]) -> str:
    return f'"{sha256(as_toml(tables).encode()).hexdigest()[:32]}"'


def _merged(kept: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """Merge as a JSON merge patch (RFC 7396) says; where nothing is kept, take what is given."""
    if not kept:
        return dict(patch)
    merged = {**kept, **patch}
    for key, value in patch.items():
        if isinstance(value, Mapping) and isinstance(kept.get(key), Mapping):
            merged[key] = _merged(kept[key], value)
    return {key: value for key, value in merged.items() if value is not None}
