"""The pages of a study and of a benchmark, in the order in which they are used: what their frames
lead to."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any

from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from annotation.access.requests import ResearcherRequest, lets_in, require
from annotation.access.rights import Right, rights_in
from annotation.models import Benchmark, Study, StudyState
from annotation.studies.lifecycle import CHANGES

DRAFTS = (StudyState.DRAFT,)
STARTED = (StudyState.OPEN, StudyState.PAUSED, StudyState.CLOSED)
CHANGE = "annotation.change_study"


# The pages of scoring that those of annotation lead to: nothing else here names them.
_PAGES = "add_system builder bundle comparison episodes imported_studies item leaderboard plan"
SCORING_PAGES = {
    name: f"scoring:{name}" for name in f"{_PAGES} rehearsal rehearsals report systems".split()
}


def scoring_pages(request: HttpRequest) -> dict[str, Any]:
    return {"scoring_pages": SCORING_PAGES}


@dataclass(frozen=True)
class Tab:
    """A page of a study or a benchmark. Its address takes its name, after `before`."""

    name: str
    label: str
    page: str
    right: Right
    permission: str = ""
    states: Sequence[str] = tuple(StudyState)
    before: tuple[str, ...] = ()
    # Whether studies of people have it, and rehearsals, in which there are none.
    of_people: bool = True
    of_rehearsals: bool = True
    # Whether those from elsewhere have it, whose people nobody here asked, watched or paid.
    from_elsewhere: bool = True
    # The right that is enough once the study is closed.
    once_closed: Right | None = None

    def right_in(self, study: Study) -> Right:
        return self.once_closed if self.once_closed and study.is_closed else self.right

    def is_of(self, study: Study) -> bool:
        has_it = self.of_rehearsals if study.is_rehearsal else self.of_people
        is_fitting = self.from_elsewhere or not study.source
        return has_it and is_fitting and study.state in self.states

    def address(self, thing: Study | Benchmark) -> str:
        name = thing.slug if isinstance(thing, Study) else thing.name
        return reverse(self.page, args=[*self.before, name])


_SET_UP = (Right.SET_UP, CHANGE)
_READ = (Right.PEOPLE, "annotation.view_assignment", STARTED)
TABS = (
    Tab("rehearsed", "Results", SCORING_PAGES["rehearsal"], *_SET_UP, of_people=False),
    Tab("overview", "Overview", "annotation:watch", Right.TABLES, of_rehearsals=False),
    Tab("settings", "Settings", "annotation:settings", *_SET_UP),
    Tab("batches", "Batches", SCORING_PAGES["builder"], *_SET_UP, DRAFTS),
    Tab("rehearsal", "Rehearsal", SCORING_PAGES["rehearsals"], *_SET_UP, DRAFTS),
    Tab("start", "Start", "annotation:start", *_SET_UP, DRAFTS),
    Tab("people", "People", "annotation:people", *_READ, of_rehearsals=False, from_elsewhere=False),
    Tab(
        *("payments", "Payments", "annotation:payments", Right.PAY),
        of_rehearsals=False,
        from_elsewhere=False,
    ),
    Tab("comparison", "Comparison", SCORING_PAGES["comparison"], Right.TABLES, before=("study",)),
    Tab(
        *("report", "Report", SCORING_PAGES["report"], Right.GOLD),
        once_closed=Right.TABLES,
        from_elsewhere=False,
    ),
    Tab("data", "Data", "annotation:exports", *_READ, from_elsewhere=False),
    Tab("members", "Members", "annotation:members", Right.MEMBERS),
    Tab("log", "Log", "annotation:log", *_SET_UP),
)


# The pages of a benchmark.
BENCHMARK_TABS = (
    Tab("tasks", "Tasks", "annotation:benchmark", Right.GOLD),
    Tab("systems", "Systems", SCORING_PAGES["systems"], Right.SET_UP, "scoring.view_run"),
    Tab(
        "comparison",
        "Comparison",
        SCORING_PAGES["comparison"],
        Right.TABLES,
        before=("benchmark",),
    ),
    Tab("leaderboard", "Leaderboard", SCORING_PAGES["leaderboard"], Right.TABLES),
    Tab("members", "Members", "annotation:benchmark_members", Right.MEMBERS),
    Tab("log", "Log", "annotation:benchmark_log", Right.SET_UP),
)


def benchmark_for(
    request: ResearcherRequest, name: str, permission: str = "", *, right: Right
) -> Benchmark:
    benchmark = get_object_or_404(Benchmark, name=name)
    require(request.user, benchmark, right, permission=permission)
    return benchmark


def benchmark_frame(user: Any, benchmark: Benchmark, *, tab: str) -> dict[str, Any]:
    """What every page of a benchmark hands its template, for its frame."""
    return {
        "benchmark": benchmark,
        "rights": rights_in(user, benchmark),
        "tabs": [
            (one.label, one.address(benchmark), one.name == tab)
            for one in BENCHMARK_TABS
            if lets_in(user, benchmark, one.right, permission=one.permission)
        ],
    }


def study_for(
    request: ResearcherRequest, slug: str, permission: str = "", *, right: Right
) -> Study:
    study = get_object_or_404(Study.objects.select_related("benchmark", "channel"), slug=slug)
    require(request.user, study, right, permission=permission)
    return study


# How a page is asked for.
READ, SEND = ("GET", "HEAD"), ("POST",)
StudyView = Callable[..., HttpResponseBase]


def study_page(
    *methods: str, right: Right, permission: str = "", to_send: str = ""
) -> Callable[[StudyView], StudyView]:
    """Hands the view the study of its address, for whoever has the right in it and the permission,
    or that which it takes to send the page's form; never stored."""

    def decorate(view: StudyView) -> StudyView:
        @wraps(view)
        def page(request: ResearcherRequest, slug: str, **rest: Any) -> HttpResponseBase:
            needed = to_send if request.method == "POST" and to_send else permission
            return view(request, study_for(request, slug, needed, right=right), **rest)

        return never_cache(require_http_methods(methods)(page))

    return decorate


def check_has(study: Study, tab: str) -> None:
    """Raise Http404 for a page that a study from elsewhere does not have."""
    if study.source and any(one.name == tab and not one.from_elsewhere for one in TABS):
        raise Http404(f"Others asked the people of “{study}”.")


def study_frame(user: Any, study: Study, *, tab: str) -> dict[str, Any]:
    """What every page of a study hands its template, for its frame."""
    check_has(study, tab)
    return {
        "study": study,
        "rights": rights_in(user, study),
        # Label, address, and whether it is the present page.
        "tabs": [
            (one.label, one.address(study), one.name == tab)
            for one in TABS
            if one.is_of(study)
            and lets_in(user, study, one.right_in(study), permission=one.permission)
        ],
        "state_changes": _state_changes(user, study),
    }


def frame_of(user: Any, scope: str, name: str) -> dict[str, Any]:
    """The frame of a page beside a comparison; none once its study or benchmark is gone."""
    if scope == "study":
        study = Study.objects.select_related("benchmark", "channel").filter(slug=name).first()
        return study_frame(user, study, tab="comparison") if study else {}
    benchmark = Benchmark.objects.filter(name=name).first()
    return benchmark_frame(user, benchmark, tab="systems") if benchmark else {}


def _state_changes(user: Any, study: Study) -> list[tuple[str, str]]:
    """How whoever may can change the state of one that has started: what it is called, its page."""
    if not lets_in(user, study, Right.SET_UP, permission=CHANGE):
        return []
    state = "archived" if study.archived_at else study.state
    return [
        (f"{words['button']}…", reverse(f"admin:annotation_study_{name}", args=[study.pk]))
        for name, words in CHANGES.items()
        if state in words["offered"]
    ]
