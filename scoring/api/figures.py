"""What a study found, over the API: its comparison, report, pre-registration and bundle."""

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter

from annotation.access.api import (
    CONFLICT,
    ONE,
    SENT,
    Conflict,
    files,
    form_of,
    formats,
    ordered,
    page_request,
    refused,
    taken,
    user_of,
)
from annotation.access.requests import require
from annotation.access.rights import Right
from annotation.access.serializers import Fields, YesOrNo
from annotation.api.studies import OfStudies
from annotation.jobs.queue import enqueue
from scoring.bundle.packing import check_packable
from scoring.bundle.tasks import PACK
from scoring.comparison import requests
from scoring.comparison.comparing import enqueue_table, glance
from scoring.comparison.documents import FORMATS
from scoring.comparison.views import comparison_file
from scoring.report import documents, preregistration
from scoring.report.views import preregistration_file, report_file, report_order

COMPARISONS = ("json", *(form for form in FORMATS if form != "json"))
DOCUMENTS = files(*(FORMATS[form].content_type for form in COMPARISONS[1:]))
WAITS = "It is being computed: ask for it again."
CHOICES = [
    *(OpenApiParameter(name, str) for name in (*requests.TEXTS, "shots", "gold_version")),
    *(OpenApiParameter(name, bool) for name in requests.TICKS),
]


class BundleSerializer(Fields):
    """What it holds besides the answers of the people who count."""

    texts = YesOrNo(default=False)
    simulated = YesOrNo(default=False)
    with_excluded = YesOrNo(default=False)


class FiguresViewSet(OfStudies):
    @extend_schema(
        methods=["GET"],
        parameters=[formats(*COMPARISONS), *CHOICES],
        responses={
            **{200: OpenApiTypes.OBJECT, **DOCUMENTS},
            **{202: refused(WAITS), **ONE, 409: CONFLICT},
        },
    )
    @extend_schema(methods=["POST"], request=None, responses={202: refused(WAITS), **ONE})
    @action(detail=True, methods=["get", "post"])
    def comparison(self, request: Request, slug: str) -> Response | HttpResponse:
        """The table of people and systems, as its page and exports have it. 202: a worker computes
        it, so ask again; POST has one computed that was stopped or failed."""
        asked, form = page_request(request), form_of(request, COMPARISONS)
        compared, choices = requests.asked(asked, "study", slug)
        if request.method == "POST":
            self.refuse_fields()
            enqueue_table(compared, choices, author=user_of(request))
            return _waits()
        seen = glance(compared, choices, author=user_of(request))
        if seen.table and not seen.is_stale:
            return comparison_file(asked, compared, seen.table, form)
        if seen.is_waiting or seen.kept.job is None:
            return _waits()
        raise Conflict(f"It was not computed: {seen.kept.job.message} Send a POST to try again.")

    @extend_schema(
        parameters=[
            OpenApiParameter("part", enum=documents.PARTS, description="methods, if left out."),
            formats(*documents.forms_of("sheet")),
        ],
        responses={
            **files(*(kind for kind, _end in documents.FILES.values())),
            **{202: OpenApiTypes.OBJECT, **ONE},
        },
    )
    @action(detail=True)
    def report(self, request: Request, slug: str) -> Response | HttpResponse:
        """The methods section, or the reporting sheet; of a large study by a job."""
        study = self.study(Right.GOLD)
        part = request.query_params.get("part", documents.PARTS[0])
        form = form_of(request, documents.forms_of(part))
        order = report_order(page_request(request), study, part, form)
        if order.is_large:
            return ordered(order.order(author=user_of(request)))
        return report_file(study, order)

    @extend_schema(
        parameters=[formats(*preregistration.FORMATS)],
        responses={**files(*(one.content_type for one in preregistration.FORMATS.values())), **ONE},
    )
    @action(detail=True)
    def preregistration(self, request: Request, slug: str) -> HttpResponse:
        """What is planned, to be registered before the start."""
        study = self.study(Right.GOLD)
        return preregistration_file(study, form_of(request, preregistration.FORMATS))

    @extend_schema(
        request=BundleSerializer,
        responses={202: OpenApiTypes.OBJECT, **ONE, **SENT, 409: CONFLICT},
    )
    @action(detail=True, methods=["post"])
    def bundle(self, request: Request, slug: str) -> Response:
        """Have everything packed into one zip, by a job that then has the file."""
        study = self.study(Right.PEOPLE, "annotation.view_judgement")
        require(user_of(request), study, Right.GOLD, permission="annotation.view_judgement")
        sent = taken(request, BundleSerializer)
        check_packable(study, texts=sent["texts"])
        about = {"study": study.pk, **sent}
        return ordered(enqueue(PACK, about, author=user_of(request)))


def _waits() -> Response:
    return Response({"detail": WAITS}, status.HTTP_202_ACCEPTED, headers={"Retry-After": "2"})


router = SimpleRouter()
router.register("api/studies", FiguresViewSet, basename="of-study")
urlpatterns = router.urls
