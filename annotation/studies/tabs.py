"""The pages of a study, in the order in which they are used: what its frame leads to."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.urls import reverse
from django.utils.functional import Promise

from annotation.access.requests import lets_in
from annotation.access.rights import Right, rights_in
from annotation.models import Study, StudyState

DRAFTS = (StudyState.DRAFT,)
ANY_STATE = tuple(StudyState)
STARTED = (StudyState.OPEN, StudyState.PAUSED, StudyState.CLOSED)
CHANGE = "annotation.change_study"


@dataclass(frozen=True)
class Tab:
    """A page of a study. Its address takes the study's slug, after `before`, or its key."""

    name: str
    label: str | Promise
    page: str
    right: Right
    permission: str = ""
    states: Sequence[str] = ANY_STATE
    before: tuple[str, ...] = ()
    by_key: bool = False
    of_rehearsals_alone: bool = False
    # What it shows is of people, and a rehearsal has none.
    of_people_alone: bool = False

    def is_of(self, study: Study) -> bool:
        is_left_out = self.of_people_alone if study.is_rehearsal else self.of_rehearsals_alone
        return study.state in self.states and not is_left_out

    def address(self, study: Study) -> str:
        return reverse(self.page, args=[*self.before, study.pk if self.by_key else study.slug])


TABS = (
    Tab(
        "rehearsed",
        "What came out",
        "scoring:rehearsal",
        Right.SET_UP,
        permission=CHANGE,
        of_rehearsals_alone=True,
    ),
    Tab("overview", "Overview", "annotation:watch", Right.TABLES, of_people_alone=True),
    Tab(
        "settings",
        "Settings",
        "admin:annotation_study_change",
        Right.SET_UP,
        by_key=True,
    ),
    Tab(
        "batches",
        "Batches",
        "scoring:builder",
        Right.SET_UP,
        permission=CHANGE,
        states=DRAFTS,
    ),
    Tab(
        "rehearsal",
        "Rehearsal",
        "scoring:rehearsals",
        Right.SET_UP,
        permission=CHANGE,
        states=DRAFTS,
    ),
    Tab(
        "start",
        "Start",
        "annotation:start",
        Right.SET_UP,
        permission=CHANGE,
        states=DRAFTS,
    ),
    Tab(
        "people",
        "People",
        "annotation:people",
        Right.PEOPLE,
        permission="annotation.view_assignment",
        states=STARTED,
        of_people_alone=True,
    ),
    Tab("payments", "Payments", "annotation:payments", Right.PAY, of_people_alone=True),
    Tab("comparison", "Comparison", "scoring:comparison", Right.TABLES, before=("study",)),
    Tab("report", "Report", "scoring:report", Right.GOLD),
    Tab(
        "data",
        "Data",
        "annotation:exports",
        Right.PEOPLE,
        permission="annotation.view_assignment",
        states=STARTED,
    ),
    Tab(
        "log",
        "Log",
        "admin:annotation_study_changes",
        Right.SET_UP,
        permission=CHANGE,
        by_key=True,
    ),
)


@dataclass(frozen=True)
class Way:
    """A tab as one study shows it."""

    label: str | Promise
    address: str
    is_here: bool


def study_frame(user: Any, study: Study, *, tab: str) -> dict[str, Any]:
    """What every page of a study hands its template: the study, the reader's rights, the tabs, and
    the pages that change its state."""
    return {
        "study": study,
        "rights": rights_in(user, study),
        "tabs": _ways(user, study, tab),
        "state_changes": _state_changes(user, study),
    }


def _ways(user: Any, study: Study, here: str) -> list[Way]:
    return [
        Way(tab.label, tab.address(study), tab.name == here)
        for tab in TABS
        if tab.is_of(study) and lets_in(user, study, tab.right, permission=tab.permission)
    ]


def _state_changes(user: Any, study: Study) -> list[tuple[str, str]]:
    """How the state of one that has started can be changed, by whoever may: what that is called,
    and its page."""
    if not lets_in(user, study, Right.SET_UP, permission=CHANGE):
        return []
    names = {
        StudyState.OPEN: [("pause", "Pause…"), ("close", "Close…")],
        StudyState.PAUSED: [("resume", "Resume…"), ("close", "Close…")],
        StudyState.CLOSED: [
            ("take-out", "Take out of the archive…")
            if study.archived_at
            else ("archive", "Archive…")
        ],
    }
    return [
        (str(label), reverse(f"admin:annotation_study_{name}", args=[study.pk]))
        for name, label in names.get(StudyState(study.state), [])
    ]
