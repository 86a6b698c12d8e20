"""Benchmarks over the API: read, and imported by a job; and how far jobs are."""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Count, QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema, extend_schema_field, extend_schema_view
from rest_framework import mixins, serializers
from rest_framework.decorators import action
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from annotation.access.api import (
    ANY,
    ONE,
    PAGED,
    SENT,
    Pages,
    Refusing,
    check_form,
    files,
    multipart,
    ordered,
    page_request,
    user_of,
)
from annotation.access.requests import require
from annotation.access.rights import Right, benchmarks, is_all_powerful, may_see_gold
from annotation.benchmarks.forms import ImportForm
from annotation.benchmarks.importing import JOB
from annotation.jobs.queue import enqueue
from annotation.jobs.requests import job_file
from annotation.models import Benchmark, ItemSet, Job, Study, Task


class SetSerializer(serializers.ModelSerializer[ItemSet]):
    items = serializers.IntegerField(source="size")

    class Meta:
        model = ItemSet
        fields = ("name", "role", "shots", "split", "episode", "items")


class TaskSerializer(serializers.ModelSerializer[Task]):
    sets = serializers.SerializerMethodField()
    audit = serializers.ListField(child=serializers.DictField())

    class Meta:
        model = Task
        fields = (
            *("slug", "name", "title", "kind", "language", "description", "reference_policy"),
            *("normalisation", "sets", "audit"),
        )

    @extend_schema_field(SetSerializer(many=True))
    def get_sets(self, task: Task) -> Any:
        return SetSerializer(task.item_sets.annotate(size=Count("items")), many=True).data


class BenchmarkSerializer(serializers.ModelSerializer[Benchmark]):
    class Meta:
        model = Benchmark
        fields = ("name", "title", "source", "created_at")


@extend_schema_view(list=extend_schema(responses={200: BenchmarkSerializer(many=True), **PAGED}))
class BenchmarkViewSet(mixins.ListModelMixin, Refusing, GenericViewSet[Benchmark]):
    serializer_class = BenchmarkSerializer
    queryset = Benchmark.objects.none()
    lookup_field = "name"
    lookup_value_regex = r"[-\w]+"
    pagination_class = Pages
    parser_classes = (MultiPartParser,)
    most = "BENCHMARK_UPLOAD_MAX_BYTES"

    def get_queryset(self) -> QuerySet[Benchmark]:
        return benchmarks(self.request.user).filter(is_staged=False).order_by("name")

    @extend_schema(responses={200: OpenApiTypes.OBJECT, **ONE})
    def retrieve(self, request: Request, name: str) -> Response:
        """Its tasks, each with its sets and what the audit found."""
        benchmark = get_object_or_404(Benchmark, name=name)
        if not may_see_gold(request.user, benchmark):
            require(user_of(request), benchmark, Right.GOLD)
        tasks = TaskSerializer(benchmark.tasks.all(), many=True).data
        return Response({**BenchmarkSerializer(benchmark).data, "tasks": tasks})

    @extend_schema(
        request=multipart(ImportForm),
        responses={202: OpenApiTypes.OBJECT, **ANY, **SENT},
    )
    def create(self, request: Request) -> Response:
        """Import a file, as the page does; without the `description` of a table no study of it
        starts."""
        user = user_of(request)
        if not user.has_perm("annotation.add_benchmark"):
            raise PermissionDenied
        form = ImportForm(request.data, request.FILES, user=user)
        check_form(request, form)
        with transaction.atomic():
            form.keep_files()
            job = enqueue(JOB, form.arguments, upload=form.kept["file"], author=user)
        return ordered(job)


class JobSerializer(serializers.ModelSerializer[Job]):
    benchmark = serializers.CharField(
        source="result.benchmark", default=None, allow_null=True, read_only=True
    )
    file = serializers.SerializerMethodField()

    class Meta:
        model = Job
        fields = (
            *("id", "kind", "state", "progress", "total", "message", "benchmark", "file"),
            *("created_at", "finished_at"),
        )

    def get_file(self, job: Job) -> str | None:
        """The address where what the job made is fetched."""
        return reverse("annotation:job-file", args=[job.pk]) if hasattr(job, "file") else None


@extend_schema_view(retrieve=extend_schema(responses={200: JobSerializer, **ONE}))
class JobViewSet(mixins.RetrieveModelMixin, Refusing, GenericViewSet[Job]):
    """One's own."""

    serializer_class = JobSerializer
    queryset = Job.objects.none()
    lookup_value_regex = r"\d+"

    def get_queryset(self) -> QuerySet[Job]:
        jobs = Job.objects.select_related("file")
        if is_all_powerful(self.request.user):
            return jobs
        return jobs.filter(author=self.request.user.pk)

    @extend_schema(responses={**files("application/octet-stream"), **ONE})
    @action(detail=True, methods=["get"])
    def file(self, request: Request, pk: str) -> HttpResponse:
        """What it made, for whoever still has the rights that it takes."""
        job = self.get_object()
        user, said = user_of(request), job.arguments
        if study := Study.objects.filter(pk=said.get("study")).first():
            pay = [Right.PAY] if said.get("with_pay") else []
            for right in (Right.GOLD, Right.PEOPLE, *pay):
                require(user, study, right)
        elif not is_all_powerful(user):
            benchmark = get_object_or_404(Benchmark, pk=said.get("benchmark"))
            require(user, benchmark, Right.GOLD)
        return job_file(page_request(request), Job.objects.filter(pk=job.pk), job.pk)
