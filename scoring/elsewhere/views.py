"""The page that takes others' human answers on a benchmark."""

from django import forms
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from annotation.access.requests import ResearcherRequest, require
from annotation.access.rights import Right
from annotation.benchmarks.formats.files import READERS
from annotation.jobs.requests import UploadField, order_upload
from annotation.kinds.naming import IN_WORDS
from annotation.models import Benchmark, Job
from annotation.models.errors import BadInput
from annotation.studies.from_elsewhere import check_name
from annotation.studies.rules import broken_rules
from annotation.studies.settings_form import ClustersField
from scoring.elsewhere.tasks import JOB


class PeopleForm(forms.Form):
    file = UploadField(
        label="A table with a row for each person and item",
        widget=forms.FileInput(attrs={"accept": ",".join(READERS)}),
    )
    name = forms.CharField(label="Name of the study", max_length=80)
    source = forms.CharField(
        label="Source",
        help_text="The paper, and where the file is from; shown beside every figure.",
        widget=forms.Textarea(attrs={"rows": 2}),
    )
    answer_by = forms.ChoiceField(
        label="Answers name options by",
        required=False,
        choices=[
            ("", "whatever fits all of them"),
            *((way, f"{way}, {told}" if told else way) for way, told in IN_WORDS.items()),
        ],
    )
    clusters = ClustersField(
        label="Clusters of items",
        rows=2,
        help_text="Where items hang together more widely than by their text, a task and its group "
        "a line, such as “ner: document”. Items of one cluster count as one.",
    )
    leaves_out = forms.BooleanField(
        label="Leave out rows whose task or item is not here", required=False
    )
    dry_run = forms.BooleanField(label="Only check the file", required=False)

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        try:
            check_name(name)
        except BadInput as refusal:
            raise ValidationError(str(refusal)) from refusal
        return name

    def clean_clusters(self) -> dict[str, str]:
        clusters: dict[str, str] = self.cleaned_data["clusters"]
        for _, sentence in broken_rules({"clusters": clusters}):
            raise ValidationError(sentence)
        return clusters


def order_people(benchmark: Benchmark, form: PeopleForm, *, author: User) -> Job:
    """The job that reads what a valid form holds."""
    arguments = {**form.cleaned_data, "benchmark": benchmark.pk}
    return order_upload(JOB, arguments, arguments.pop("file"), author=author)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def people(request: ResearcherRequest, name: str) -> HttpResponse:
    """A file in, a job out."""
    benchmark = get_object_or_404(Benchmark, name=name)
    require(request.user, benchmark, Right.SET_UP)
    form = PeopleForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        job = order_people(benchmark, form, author=request.user)
        return redirect("admin:annotation_job_change", job.pk)
    context = {"form": form, "benchmark": benchmark, "title": benchmark}
    status = 400 if form.is_bound else 200
    return render(request, "scoring/elsewhere/people.html", context, status=status)
