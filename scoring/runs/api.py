"""Runs over the API: create one, upload its predictions in pieces, finish it, read its scores.

A run belongs to the user of the token; staff see all runs; for others, other users' runs do not
exist. Sending a piece again does no harm, so a client retries whatever got no response.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

from django.contrib.auth.models import User
from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import mixins, status
from rest_framework.decorators import action
from rest_framework.exceptions import APIException, NotAuthenticated, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter
from rest_framework.viewsets import GenericViewSet

from annotation.models.errors import BadInput, Refusal
from scoring.models import Run
from scoring.runs.formats.records import RunFields
from scoring.runs.import_report import Counts
from scoring.runs.importing import choose_benchmark
from scoring.runs.scores import keep_scores, scores_of_run
from scoring.runs.serializers import (
    NewRunSerializer,
    PieceAnswerSerializer,
    PieceSerializer,
    RefusalSerializer,
    RunScoreSerializer,
    RunSerializer,
)
from scoring.runs.storing import (
    DifferentAnswer,
    StoredAlready,
    add_predictions,
    check_answer,
    find_task,
    find_test_set,
    finish_run,
    open_run,
)

SHOWN_IDS = 10
SHOWN_WITH = ("task__benchmark", "test_set", "owner", "board_decision")
BAD = OpenApiResponse(
    description="What is wrong with which field, or with the request as a whole (detail)."
)
CONFLICT = OpenApiResponse(RefusalSerializer, description="Refused, with the reason.")


class Conflict(APIException):
    status_code = status.HTTP_409_CONFLICT
    default_code = "conflict"


class RunViewSet(
    mixins.ListModelMixin, mixins.RetrieveModelMixin, mixins.DestroyModelMixin, GenericViewSet[Run]
):
    serializer_class = RunSerializer
    queryset = Run.objects.none()
    lookup_value_regex = r"\d+"

    def get_queryset(self) -> QuerySet[Run]:
        runs = Run.objects.visible_to(_user(self.request))
        asked = self.request.query_params
        for name, column in FILTERS.items():
            if self.action == "list" and asked.get(name):
                runs = runs.filter(**{column: asked[name]})
        return runs.select_related(*SHOWN_WITH).order_by("-id")

    @extend_schema(
        parameters=[
            OpenApiParameter(name, str) for name in ("benchmark", "task", "system", "state")
        ]
    )
    def list(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Your runs, newest first; for staff, everybody's."""
        return super().list(request, *args, **kwargs)

    @extend_schema(request=NewRunSerializer, responses={201: RunSerializer, 400: BAD})
    def create(self, request: Request) -> Response:
        """A run that accepts predictions."""
        given = NewRunSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        run = _opened(given.validated_data, request)
        return Response(RunSerializer(run).data, status=status.HTTP_201_CREATED)

    @extend_schema(responses={204: None, 409: CONFLICT})
    def destroy(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Abandon an upload. A complete run is final."""
        run = self.get_object()
        if run.is_complete:
            raise Conflict("This run is complete, and a complete run is final.")
        run.delete()
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(
        request=PieceSerializer, responses={200: PieceAnswerSerializer, 400: BAD, 409: CONFLICT}
    )
    @action(detail=True, methods=["post"])
    def predictions(self, request: Request, pk: str) -> Response:
        """A piece of the predictions, stored whole or not at all."""
        run = self.get_object()
        given = PieceSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        answers = _answers(run, given.validated_data["predictions"])
        try:
            added = add_predictions(run, answers, all_or_none=True)
        except DifferentAnswer as error:
            _refuse_different(run, error.example_ids)
        except Refusal as error:
            raise Conflict(str(error)) from error
        progress = {
            "stored": added.stored,
            "repeated": added.repeated,
            "answered": run.predictions.count(),
            "items": run.test_set.items.count(),
        }
        return Response(PieceAnswerSerializer(progress).data)

    @extend_schema(request=None, responses={200: RunSerializer, 409: CONFLICT})
    @action(detail=True, methods=["post"])
    def finish(self, request: Request, pk: str) -> Response:
        """Make the run complete. Repeating it changes nothing."""
        run = self.get_object()
        try:
            finish_run(run, report={**Counts().as_plain(), "notes": []})
        except StoredAlready as error:
            is_visible = Run.objects.visible_to(_user(request)).filter(pk=error.run.pk).exists()
            raise Conflict(
                str(error) if is_visible else "These predictions are stored already."
            ) from error
        except BadInput as error:
            raise Conflict(str(error)) from error
        keep_scores([run])
        return Response(RunSerializer(run).data)

    @extend_schema(responses={200: RunScoreSerializer(many=True), 409: CONFLICT})
    @action(detail=True, methods=["get"], pagination_class=None)
    def scores(self, request: Request, pk: str) -> Response:
        """S1 of the run, under each reference policy."""
        try:
            found = scores_of_run(self.get_object())
        except Refusal as error:
            raise Conflict(str(error)) from error
        return Response(RunScoreSerializer(found, many=True).data)


FILTERS = {
    "benchmark": "task__benchmark__name",
    "task": "task__slug",
    "system": "system",
    "state": "state",
}


def _user(request: Request) -> User:
    if not isinstance(request.user, User):
        raise NotAuthenticated
    return request.user


def _opened(fields: RunFields, request: Request) -> Run:
    try:
        task = find_task(choose_benchmark(fields.benchmark), fields.task)
        return open_run(
            test_set=find_test_set(task, fields.episode),
            fields=fields,
            source_format="API",
            owner=_user(request),
        )
    except BadInput as error:
        sentence = str(error)
        raise ValidationError({"detail": sentence[:1].upper() + sentence[1:]}) from error


def _answers(run: Run, predictions: Iterable[Mapping[str, Any]]) -> dict[int, tuple[str, ...]]:
    """The answers of a piece by example; the piece is refused if an id is unknown."""
    wanted = {prediction["id"]: prediction for prediction in predictions}
    items = run.test_set.items.filter(source_id__in=list(wanted))
    examples = dict(items.values_list("source_id", "example_id"))
    if unknown := [source_id for source_id in wanted if source_id not in examples]:
        raise ValidationError(
            {
                "detail": f"The test set of {run.task.slug} does not have {_named(unknown)}. "
                "Nothing of this piece was stored."
            }
        )
    answers: dict[int, tuple[str, ...]] = {}
    for prediction in predictions:
        answer = _checked(prediction, run)
        if set(answers.setdefault(examples[prediction["id"]], answer)) != set(answer):
            _refuse_different(run, [examples[prediction["id"]]])
    return answers


def _checked(prediction: Mapping[str, Any], run: Run) -> tuple[str, ...]:
    try:
        return check_answer(prediction["prediction"], run.task.kind)
    except BadInput as error:
        raise ValidationError({"detail": f"Id {prediction['id']}: {error}."}) from error


def _refuse_different(run: Run, example_ids: list[int]) -> NoReturn:
    items = run.test_set.items.filter(example_id__in=example_ids)
    ids = list(items.values_list("source_id", flat=True)[: SHOWN_IDS + 1])
    raise Conflict(
        f"There is another prediction already for {_named(ids)}, and a prediction is final. "
        "Nothing of this piece was stored; a new set of predictions is a new run."
    )


def _named(ids: list[str]) -> str:
    shown = ", ".join(ids[:SHOWN_IDS])
    more = " and others" if len(ids) > SHOWN_IDS else ""
    return f"the id{'s' if len(ids) > 1 else ''} {shown}{more}"


router = SimpleRouter()
router.register("api/runs", RunViewSet, basename="run")
urlpatterns = router.urls
