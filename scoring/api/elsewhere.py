"""Others' human answers over the API."""

from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.decorators import action
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter
from rest_framework.viewsets import GenericViewSet

from annotation.access.api import (
    ONE,
    SENT,
    Refusing,
    check_form,
    fields_of,
    multipart,
    ordered,
    user_of,
)
from annotation.access.requests import require
from annotation.access.rights import Right
from annotation.models import Benchmark
from scoring.elsewhere.views import PeopleForm, order_people


class ElsewhereViewSet(Refusing, GenericViewSet[Benchmark]):
    queryset = Benchmark.objects.none()
    lookup_field = "name"
    lookup_value_regex = r"[-\w]+"
    parser_classes = (MultiPartParser,)
    most = "BENCHMARK_UPLOAD_MAX_BYTES"
    # The schema describes it; OPTIONS would ask for a serializer.
    metadata_class = None

    @extend_schema(
        request=multipart(PeopleForm),
        responses={202: OpenApiTypes.OBJECT, **ONE, **SENT},
    )
    @action(detail=True, methods=["post"])
    def people(self, request: Request, name: str) -> Response:
        """Import what others' people answered, as the page does; a job makes the study."""
        benchmark = get_object_or_404(Benchmark, name=name)
        require(user_of(request), benchmark, Right.SET_UP)
        form = PeopleForm(fields_of(request), request.FILES)
        check_form(request, form)
        return ordered(order_people(benchmark, form, author=user_of(request)))


router = SimpleRouter()
router.register("api/benchmarks", ElsewhereViewSet, basename="of-benchmark")
urlpatterns = router.urls
