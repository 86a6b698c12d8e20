"""Who may do what: actor × address × method, over the whole URL conf.

An address that is new, and not in the table, fails the test that walks the URL conf.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.db import transaction
from django.http import HttpResponseBase
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from pytest_django import DjangoDbBlocker

from annotation.access.tokens import make_token
from annotation.models import Assignment, Batch, Example, Job, Study, clock
from annotation.studies.people import invite
from annotation.work.commenting import add_comment
from scoring.models import BoardDecision, ImportedStudy, Leaderboard, ReportedScore, Run
from tests import make
from tests.annotation.benchmarks.sampled import sampled
from tests.made_once import made_once
from tests.scoring.comparison import measured
from tests.scoring.episodes.measured import answered

pytestmark = pytest.mark.django_db

# Staff has no group and no role; the other researcher owns another study and benchmark; viewer,
# editor and owner have their role in both the study and its benchmark.
ACTORS = ("anonymous", "staff", "other", "viewer", "editor", "owner", "superuser")

# What each of them gets, in this order. in: the page, or what the form says; no: 403; gone: 404;
# login: sign in first; post, get: this method is not for this address.
EVERYBODY = "in in in in in in in"
SIGNED_IN = "login in in in in in in"
LIST = "login no in in in in in"
SUPERUSERS = "login no no no no no in"
NEVER = "login no no no no no no"
VIEWERS = "login gone gone in in in in"
EDITORS = "login gone gone no in in in"
OWNERS = "login gone gone no no in in"
NOBODY = "login gone gone no no no no"
# What does not belong to a study or benchmark: staff who lack the permission are told so.
INSTALLATION = "login no no no no no in"
NOT_ALLOWED = "login method method method method method method"
# The API: others' runs do not exist, not even for a viewer of the benchmark.
RUN = "login gone gone gone in in in"
RUN_UPLOAD = "login gone gone gone no no in"


# Loads the middlewares for all the requests here, and not for each of them.
HANDLER = Client().handler


def _client(**more: Any) -> Client:
    client = Client(**more)
    client.handler = HANDLER
    return client


@dataclass
class World:
    batch: Batch
    assignment: Assignment
    draft: Study
    rehearsal: Study
    run: Run
    job: Job
    figure: ReportedScore
    decision: BoardDecision
    board: Leaderboard
    imported: ImportedStudy
    sessions: dict[str, str]
    tokens: dict[str, str]

    def program_of(self, actor: str) -> Client:
        """A client without a session, with a token of the actor's."""
        sent = {"Authorization": f"Token {self.tokens[actor]}"} if actor in self.tokens else {}
        return _client(headers=sent)

    def client_of(self, actor: str) -> Client:
        """A new one, with the session that the actor has begun."""
        client = _client()
        if actor in self.sessions:
            client.cookies[settings.SESSION_COOKIE_NAME] = self.sessions[actor]
        return client

    @property
    def study(self) -> Study:
        return self.batch.study

    @property
    def example(self) -> Example:
        return self.batch.test_set.examples.first()


Arguments = Callable[[World], list[Any]]


@pytest.fixture(scope="module")
def world(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[World]:
    with made_once(django_db_blocker, made_world) as world:
        yield world


def made_world() -> World:
    batch = measured.cell([0, 1], tests=2, training=1)
    study, benchmark = batch.study, batch.study.benchmark
    invite(study, ["anna@example.org"])
    measured.run(batch.task)
    make.closed(study)
    sampled(benchmark=benchmark.name)
    answered(benchmark.tasks.get(slug="topics"), {1: 3})
    uploading = measured.run(
        batch.task, system="New", complete=False, owner=User.objects.create_user("submitter")
    )
    other = make.researcher("other")
    for role in ("viewer", "editor", "owner"):
        member = make.researcher(role)
        study.memberships.create(user=member, role=role)
        benchmark.memberships.create(user=member, role=role)
    elsewhere = make.study(make.benchmark())
    for thing in (elsewhere, elsewhere.benchmark):
        thing.memberships.create(user=other, role="owner")
    User.objects.create_user("staff", is_staff=True)
    superuser = User.objects.create_superuser("superuser")
    draft = make.study(benchmark)
    rehearsal = make.study(benchmark, is_rehearsal=True, rehearses=draft)
    for role in ("viewer", "editor", "owner"):
        for own in (draft, rehearsal):
            own.memberships.create(user=User.objects.get(username=role), role=role)
    add_comment(batch.assignments.first(), text="Typo.", step=None, at=make.NOON)
    figure = measured.reported(benchmark, batch.task.slug)
    # Whoever asks finds both kept, as nothing that follows counts in them.
    for of_benchmark in (False, True):
        measured.analysed(study, of_benchmark=of_benchmark)
    return World(
        batch=batch,
        assignment=batch.assignments.first(),
        draft=draft,
        rehearsal=rehearsal,
        run=uploading,
        job=Job.objects.create(kind="import_benchmark", author=superuser),
        figure=figure,
        decision=BoardDecision.objects.create(study=study, stands=True, decided_at=make.NOON),
        board=Leaderboard.objects.create(benchmark=benchmark),
        imported=ImportedStudy.objects.create(
            slug="theirs",
            title="Theirs",
            benchmark="clues",
            checksum="0" * 64,
            about={},
            figures=[],
            owner=User.objects.get(username="owner"),
        ),
        sessions={actor: session_of(actor) for actor in ACTORS if actor != "anonymous"},
        tokens={actor: token_of(actor) for actor in ACTORS if actor != "anonymous"},
    )


def session_of(actor: str) -> str:
    client = Client()
    client.force_login(User.objects.get(username=actor))
    return client.cookies[settings.SESSION_COOKIE_NAME].value


def token_of(actor: str) -> str:
    user = User.objects.get(username=actor)
    may = {"may_write": True, "may_pay": True}
    return make_token(user, name="script", **may, days=9, at=clock.now())


def nothing(world: World) -> list[Any]:
    return []


def no_job(world: World) -> list[Any]:
    return [0]


def of_study(world: World) -> list[Any]:
    return ["study", world.study.slug]


def of_benchmark(world: World) -> list[Any]:
    return [world.study.benchmark.name]


def also(arguments: Arguments, *more: Any) -> Arguments:
    return lambda world: [*arguments(world), *more]


def pk_of(path: str) -> Arguments:
    def found(world: World) -> list[Any]:
        row: Any = world
        for name in path.split("."):
            row = getattr(row, name)
        return [row.pk]

    return found


def slug(world: World) -> list[Any]:
    return [world.study.slug]


def of_person(world: World) -> list[Any]:
    return [world.study.slug, world.assignment.pk]


@dataclass
class Address:
    arguments: Arguments
    get: str
    post: str
    more: dict[str, str] | None = None

    def methods(self) -> Iterator[tuple[str, str]]:
        yield from [("get", self.get), ("post", self.post), *(self.more or {}).items()]


def admin_rows(
    model: str, row: Arguments, *, view: str, change: str, delete: str, add: str
) -> dict[str, Address]:
    """The addresses that every admin has."""
    app = f"admin:{model}"
    lists = INSTALLATION if view == INSTALLATION else LIST
    return {
        f"{app}_changelist": Address(nothing, lists, lists),
        f"{app}_add": Address(nothing, add, add),
        f"{app}_change": Address(row, view, change),
        f"{app}_delete": Address(row, delete, delete),
        f"{app}_history": Address(row, view, view),
    }


def acts(prefix: str, row: Arguments, **who: str) -> dict[str, Address]:
    """Pages with a form that does one thing: whoever sees the form may send it."""
    return {
        f"admin:annotation_{prefix}_{name.replace('_', '-')}": Address(row, level, level)
        for name, level in who.items()
    }


STUDY = pk_of("study")
READ_ONLY = {"change": NOBODY, "delete": NOBODY, "add": NEVER}
TABLE: dict[str, Address] = {
    "healthz": Address(nothing, EVERYBODY, "method " * 7),
    "readyz": Address(nothing, EVERYBODY, "method " * 7),
    # For whoever has its token, and for no account.
    "metrics": Address(nothing, "gone " * 7, "method " * 7),
    "schema": Address(nothing, SIGNED_IN, NOT_ALLOWED),
    "docs": Address(nothing, SIGNED_IN, NOT_ALLOWED),
    # What the product is and how it works, for everybody.
    "documentation": Address(nothing, EVERYBODY, "method " * 7),
    "documentation_page": Address(lambda w: ["explained/protocol"], EVERYBODY, "method " * 7),
    "picture": Address(lambda w: ["1280-light/spans-partly-right.png"], EVERYBODY, "method " * 7),
    "annotation:home": Address(nothing, EVERYBODY, "method " * 7),
    # Everybody’s own tokens and lab defaults.
    "annotation:account": Address(nothing, SIGNED_IN, SIGNED_IN),
    # A link for a colleague that nobody made.
    "annotation:colleague": Address(lambda w: ["unknown"], "gone " * 7, "gone " * 7),
    # The admin itself.
    "admin:index": Address(nothing, SIGNED_IN, SIGNED_IN),
    "admin:login": Address(nothing, EVERYBODY, EVERYBODY),
    "admin:logout": Address(nothing, NOT_ALLOWED, SIGNED_IN),
    "admin:password_change": Address(nothing, SIGNED_IN, SIGNED_IN),
    "admin:password_change_done": Address(nothing, SIGNED_IN, NOT_ALLOWED),
    "admin:jsi18n": Address(nothing, SIGNED_IN, NOT_ALLOWED),
    "admin:autocomplete": Address(nothing, LIST, NOT_ALLOWED),
    "admin:view_on_site": Address(
        lambda w: [ContentType.objects.get_for_model(Study).pk, w.study.pk],
        "login gone gone gone gone gone gone",
        "login gone gone gone gone gone gone",
    ),
    "admin:app_list": Address(
        lambda w: ["annotation"], "login gone in in in in in", "login gone in in in in in"
    ),
    # Studies. This one has started: nobody deletes it, its form changes the contact alone.
    **admin_rows("annotation_study", STUDY, view=EDITORS, change=EDITORS, delete=OWNERS, add=LIST),
    **acts(
        "study",
        STUDY,
        pause=EDITORS,
        resume=EDITORS,
        close=EDITORS,
        archive=EDITORS,
        take_out=EDITORS,
        copy=EDITORS,
        changes=EDITORS,
        invitations=OWNERS,
        members=OWNERS,
    ),
    **admin_rows(
        "annotation_batch",
        pk_of("batch"),
        view=EDITORS,
        change=NOBODY,
        delete=NOBODY,
        add=LIST,
    ),
    **acts("batch", pk_of("batch"), more_places=EDITORS),
    # Benchmarks.
    **admin_rows(
        "annotation_benchmark",
        pk_of("study.benchmark"),
        view=EDITORS,
        change=EDITORS,
        delete=OWNERS,
        add=NEVER,
    ),
    **acts("benchmark", pk_of("study.benchmark"), members=OWNERS, changes=EDITORS),
    "admin:annotation_study_from_file": Address(nothing, LIST, LIST),
    "admin:annotation_benchmark_import": Address(nothing, LIST, LIST),
    "admin:annotation_benchmark_columns": Address(no_job, LIST, LIST),
    "admin:annotation_benchmark_go_on": Address(no_job, LIST, LIST),
    **admin_rows(
        "annotation_task",
        pk_of("batch.task"),
        view=EDITORS,
        change=EDITORS,
        delete=NOBODY,
        add=NEVER,
    ),
    **acts("task", pk_of("batch.task"), proposed=EDITORS),
    **admin_rows("annotation_itemset", pk_of("batch.test_set"), view=EDITORS, **READ_ONLY),
    **admin_rows("annotation_example", pk_of("example"), view=EDITORS, **READ_ONLY),
    **acts("example", pk_of("example"), correct=EDITORS),
    # People.
    **admin_rows("annotation_assignment", pk_of("assignment"), view=EDITORS, **READ_ONLY),
    **acts("assignment", pk_of("assignment"), renew=OWNERS, exclude=EDITORS, lift=EDITORS),
    **admin_rows("annotation_annotator", pk_of("assignment.annotator"), view=EDITORS, **READ_ONLY),
    **acts("annotator", pk_of("assignment.annotator"), erase=OWNERS),
    **admin_rows(
        "annotation_judgement",
        lambda w: [w.assignment.judgements.first().pk],
        view=EDITORS,
        **READ_ONLY,
    ),
    **admin_rows(
        "annotation_comment",
        lambda w: [w.assignment.comments.first().pk],
        view=EDITORS,
        **READ_ONLY,
    ),
    # Of the installation: everybody who makes studies chooses a channel, superusers change it.
    **admin_rows(
        "annotation_channel",
        pk_of("study.channel"),
        view=LIST,
        change=SUPERUSERS,
        delete=SUPERUSERS,
        add=SUPERUSERS,
    ),
    # Somebody else's job does not exist.
    **admin_rows(
        "annotation_job",
        pk_of("job"),
        view="login gone gone gone gone gone in",
        change="login gone gone gone gone gone no",
        delete="login gone gone gone gone gone no",
        add=NEVER,
    ),
    **acts(
        "job",
        pk_of("job"),
        progress="login gone gone gone gone gone in",
        cancel="login gone gone gone gone gone in",
    ),
    # Runs and leaderboards.
    **admin_rows(
        "scoring_run", pk_of("run"), view=EDITORS, change=NOBODY, delete=EDITORS, add=NEVER
    ),
    "scoring:add_system": Address(of_study, EDITORS, EDITORS),
    "scoring:blank_predictions": Address(
        lambda world: [*of_study(world), world.batch.task.slug], EDITORS, NOT_ALLOWED
    ),
    # No look of theirs.
    "scoring:store_system": Address(
        also(of_study, 0), NOT_ALLOWED, "login gone gone no gone gone gone"
    ),
    "admin:scoring_run_ask": Address(pk_of("study.benchmark"), EDITORS, EDITORS),
    **admin_rows(
        "scoring_reportedscore",
        pk_of("figure"),
        view=EDITORS,
        change=NOBODY,
        delete=EDITORS,
        add=LIST,
    ),
    **admin_rows(
        "scoring_boarddecision",
        pk_of("decision"),
        view=EDITORS,
        change=EDITORS,
        delete=EDITORS,
        add=LIST,
    ),
    **admin_rows(
        "scoring_leaderboard",
        pk_of("board"),
        view=EDITORS,
        change=EDITORS,
        delete=EDITORS,
        add=LIST,
    ),
    # A study's pages outside the admin.
    "annotation:watch": Address(slug, VIEWERS, NOT_ALLOWED),
    # This study has started: its editors are sent to where it is watched.
    "annotation:start": Address(slug, EDITORS, EDITORS),
    "annotation:settings": Address(slug, EDITORS, EDITORS),
    "annotation:members": Address(slug, OWNERS, OWNERS),
    "annotation:log": Address(slug, EDITORS, NOT_ALLOWED),
    "annotation:benchmark_members": Address(of_benchmark, OWNERS, OWNERS),
    "annotation:benchmark_log": Address(of_benchmark, EDITORS, NOT_ALLOWED),
    "annotation:new_study": Address(nothing, LIST, LIST),
    "annotation:study_file": Address(slug, EDITORS, NOT_ALLOWED),
    "annotation:preview": Address(pk_of("batch"), EDITORS, EDITORS),
    "scoring:builder": Address(slug, EDITORS, EDITORS),
    "scoring:remove_batches": Address(slug, NOT_ALLOWED, EDITORS),
    "scoring:part_study": Address(slug, NOT_ALLOWED, EDITORS),
    "scoring:rehearsals": Address(slug, EDITORS, EDITORS),
    # This study is no rehearsal.
    "scoring:rehearsal": Address(slug, "login gone gone no gone gone gone", NOT_ALLOWED),
    "scoring:discard_rehearsal": Address(slug, NOT_ALLOWED, "login gone gone no gone gone gone"),
    "annotation:people": Address(slug, EDITORS, NOT_ALLOWED),
    "annotation:people_export": Address(slug, EDITORS, NOT_ALLOWED),
    "annotation:people_workbook": Address(slug, EDITORS, NOT_ALLOWED),
    "annotation:person": Address(of_person, EDITORS, NOT_ALLOWED),
    "annotation:release_place": Address(of_person, NOT_ALLOWED, EDITORS),
    "annotation:exclude_person": Address(of_person, NOT_ALLOWED, EDITORS),
    "annotation:lift_person": Address(of_person, NOT_ALLOWED, EDITORS),
    # Payments.
    "annotation:payments": Address(slug, OWNERS, NOT_ALLOWED),
    "annotation:approve_payments": Address(slug, NOT_ALLOWED, OWNERS),
    "annotation:set_rewards": Address(slug, NOT_ALLOWED, OWNERS),
    "annotation:send_payments": Address(slug, OWNERS, OWNERS),
    "annotation:correct_payment": Address(of_person, NOT_ALLOWED, OWNERS),
    # There is no such payout.
    "annotation:settle_payout": Address(
        also(slug, 1), NOT_ALLOWED, "login gone gone no no gone gone"
    ),
    "annotation:sent_file": Address(also(slug, 1), "login gone gone no no gone gone", NOT_ALLOWED),
    "annotation:webhooks": Address(slug, EDITORS, EDITORS),
    "annotation:prolific": Address(slug, OWNERS, OWNERS),
    "annotation:prolific_act": Address(also(slug, "poll"), NOT_ALLOWED, OWNERS),
    # Whoever cannot sign what they report is nobody; an address that no study has does not exist.
    "annotation:prolific_report": Address(lambda w: ["unknown"], "method " * 7, "gone " * 7),
    "annotation:export_payments": Address(also(slug, "csv"), OWNERS, NOT_ALLOWED),
    "annotation:payments_dictionary": Address(slug, OWNERS, NOT_ALLOWED),
    "annotation:export_judgements": Address(also(slug, "csv"), EDITORS, EDITORS),
    "annotation:exports": Address(slug, EDITORS, NOT_ALLOWED),
    "annotation:export": Address(also(slug, "items"), EDITORS, NOT_ALLOWED),
    "annotation:export_workbook": Address(also(slug, "items"), EDITORS, NOT_ALLOWED),
    "annotation:export_dictionary": Address(also(slug, "items"), EDITORS, NOT_ALLOWED),
    "annotation:export_ids": Address(slug, NOT_ALLOWED, OWNERS),
    "scoring:bundle": Address(slug, NOT_ALLOWED, EDITORS),
    "scoring:imported_studies": Address(nothing, LIST, LIST),
    # Everybody sees their own alone.
    "scoring:imported_study": Address(
        pk_of("imported"), "login gone gone gone gone in in", NOT_ALLOWED
    ),
    "annotation:invitation_links": Address(slug, OWNERS, NOT_ALLOWED),
    # Comparisons and what is made of them.
    "scoring:comparison": Address(of_study, VIEWERS, NOT_ALLOWED),
    "scoring:order_comparison": Address(of_study, NOT_ALLOWED, VIEWERS),
    "scoring:stop_comparison": Address(of_study, NOT_ALLOWED, VIEWERS),
    "scoring:comparison_export": Address(also(of_study, "csv"), VIEWERS, NOT_ALLOWED),
    "scoring:analysis": Address(of_study, EDITORS, NOT_ALLOWED),
    "scoring:order_analysis": Address(of_study, NOT_ALLOWED, EDITORS),
    "scoring:stop_analysis": Address(of_study, NOT_ALLOWED, EDITORS),
    "scoring:analysis_export": Address(also(of_study, "all", "json"), EDITORS, NOT_ALLOWED),
    "scoring:items": Address(of_study, EDITORS, NOT_ALLOWED),
    "scoring:item": Address(lambda w: [*of_study(w), w.example.pk], EDITORS, NOT_ALLOWED),
    "scoring:correct_gold": Address(lambda w: [*of_study(w), w.example.pk], EDITORS, EDITORS),
    "scoring:shots_figure": Address(also(of_study, "svg"), VIEWERS, NOT_ALLOWED),
    "scoring:analysis_figure": Address(also(of_study, "curves", "svg"), EDITORS, NOT_ALLOWED),
    "scoring:items_figure": Address(also(of_study, "svg"), EDITORS, EDITORS),
    # Viewers read it once the study is closed, as this one is.
    "scoring:report": Address(slug, VIEWERS, NOT_ALLOWED),
    # Large files are ordered by POST where they are fetched.
    "scoring:preregistration": Address(also(slug, "latex"), EDITORS, NOT_ALLOWED),
    "scoring:report_export": Address(also(slug, "methods", "text"), EDITORS, EDITORS),
    "scoring:samples": Address(of_study, EDITORS, EDITORS),
    "scoring:elsewhere": Address(of_benchmark, EDITORS, EDITORS),
    "annotation:benchmark": Address(of_benchmark, EDITORS, "login gone gone no gone gone gone"),
    "scoring:systems": Address(of_benchmark, EDITORS, NOT_ALLOWED),
    "scoring:leaderboard": Address(of_benchmark, VIEWERS, "method " * 7),
    "scoring:leaderboard_export": Address(
        also(of_benchmark, "all", "json"), VIEWERS, "method " * 7
    ),
    "scoring:episodes": Address(of_benchmark, VIEWERS, "method " * 7),
    "scoring:episodes_export": Address(also(of_benchmark, "all", "json"), VIEWERS, VIEWERS),
    "scoring:plan": Address(nothing, LIST, "login no method method method method method"),
    "scoring:plan_document": Address(nothing, LIST, "login no method method method method method"),
    "scoring:draft_plan": Address(nothing, "login no method method method method method", LIST),
    # The API.
    "scoring:run-list": Address(nothing, SIGNED_IN, SIGNED_IN),
    "scoring:run-detail": Address(pk_of("run"), RUN, NOT_ALLOWED, {"delete": RUN}),
    "scoring:run-scores": Address(pk_of("run"), RUN, NOT_ALLOWED),
    "scoring:run-predictions": Address(pk_of("run"), NOT_ALLOWED, RUN_UPLOAD),
    "scoring:run-finish": Address(pk_of("run"), NOT_ALLOWED, RUN_UPLOAD),
    "annotation:benchmark-list": Address(nothing, SIGNED_IN, LIST),
    "annotation:benchmark-detail": Address(of_benchmark, EDITORS, NOT_ALLOWED),
    "annotation:job-detail": Address(
        pk_of("job"), "login gone gone gone gone gone in", NOT_ALLOWED
    ),
    # It made none.
    "annotation:job-file": Address(pk_of("job"), NOBODY.replace("no", "gone"), NOT_ALLOWED),
    "annotation:study-list": Address(nothing, SIGNED_IN, LIST),
    "annotation:study-detail": Address(
        slug, EDITORS, NOT_ALLOWED, {"put": EDITORS, "patch": EDITORS, "delete": OWNERS}
    ),
    "annotation:study-change-state": Address(also(slug, "pause"), NOT_ALLOWED, EDITORS),
    "annotation:study-start": Address(slug, EDITORS, EDITORS),
    "annotation:study-rehearse": Address(slug, NOT_ALLOWED, EDITORS),
    "annotation:study-hook-all": Address(slug, EDITORS, EDITORS),
    "annotation:study-hook-one": Address(
        also(slug, 0), NOT_ALLOWED, NOT_ALLOWED, {"delete": "login gone gone no gone gone gone"}
    ),
    "annotation:of-study-progress": Address(slug, VIEWERS, NOT_ALLOWED),
    "annotation:of-study-people": Address(slug, EDITORS, NOT_ALLOWED),
    "annotation:of-study-places": Address(
        lambda world: [*slug(world), world.batch.pk], NOT_ALLOWED, EDITORS
    ),
    "annotation:of-study-invitations": Address(slug, OWNERS, OWNERS),
    "annotation:of-study-release": Address(of_person, NOT_ALLOWED, EDITORS),
    "annotation:of-study-exclude": Address(of_person, NOT_ALLOWED, EDITORS, {"delete": EDITORS}),
    "annotation:of-study-table": Address(also(slug, "items"), EDITORS, NOT_ALLOWED),
    "scoring:of-study-comparison": Address(slug, VIEWERS, VIEWERS),
    "scoring:of-study-report": Address(slug, EDITORS, NOT_ALLOWED),
    "scoring:of-study-preregistration": Address(slug, EDITORS, NOT_ALLOWED),
    "scoring:of-study-bundle": Address(slug, NOT_ALLOWED, EDITORS),
    "annotation:of-study-payments": Address(slug, OWNERS, NOT_ALLOWED),
    "scoring:of-benchmark-people": Address(of_benchmark, NOT_ALLOWED, EDITORS),
}
API = (
    *("scoring:run-", "scoring:of-study-", "annotation:study-", "annotation:of-study-"),
    *("annotation:benchmark-", "annotation:job-", "scoring:of-benchmark-"),
)
# Addresses that take a benchmark as well as a study.
OF_BENCHMARKS = [
    "scoring:comparison",
    "scoring:comparison_export",
    "scoring:items",
    "scoring:samples",
]
# For annotators, who have no account: their own tests say who gets in.
TRY_ONE = "annotation:try_one"
ANNOTATORS = {
    "annotation:choose_who",
    "annotation:join_study",
    "annotation:join_batch",
    "annotation:join_pool",
    "annotation:accept_invitation",
    "annotation:resume",
    "annotation:another_device",
    "annotation:enter_code",
    "annotation:work",
    "annotation:consent",
    "annotation:try_one",
    "annotation:begin",
    "annotation:submit",
    "annotation:proceed",
    "annotation:withdraw",
    "annotation:comment",
    "annotation:comment_thanks",
    "annotation:leave",
    "annotation:choose_language",
}
# Accounts, tokens and sign-ins: superusers alone.
OF_SUPERUSERS = ("admin:auth_", "admin:authtoken_", "admin:axes_")


def addresses(resolver: URLResolver, space: str = "") -> Iterator[str]:
    """Every named address. The unnamed ones, Django's own, redirect or find nothing."""
    for pattern in resolver.url_patterns:
        if isinstance(pattern, URLPattern):
            if pattern.name:
                yield space + pattern.name
        else:
            inner = f"{space}{pattern.namespace}:" if pattern.namespace else space
            yield from addresses(pattern, inner)


NAMES = sorted(set(addresses(get_resolver("config.urls"))))


def test_names_every_address() -> None:
    rest = {name for name in NAMES if not name.startswith(OF_SUPERUSERS)}
    assert rest == set(TABLE) | ANNOTATORS


def outcome(response: HttpResponseBase) -> str:
    status = response.status_code
    if status == 302 and response["Location"].startswith("/admin/login/"):
        return "login"
    return {401: "login", 403: "no", 404: "gone", 405: "method"}.get(status, "in")


def asked(
    world: World,
    method: str,
    path: str,
    query: str = "",
    *,
    by_token: bool = False,
    **sent: Any,
) -> dict[str, str]:
    """What each actor gets; what it changes is undone before the next one asks."""
    found = {}
    for actor in ACTORS:
        with transaction.atomic():
            client = world.program_of(actor) if by_token else world.client_of(actor)
            response = getattr(client, method)(path + query, **sent)
            # Whoever comes to the same desk next finds nothing in its browser.
            assert actor == "anonymous" or "no-store" in response["Cache-Control"]
            found[actor] = outcome(response)
            transaction.set_rollback(True)
    return found


QUERIES = {
    "admin:autocomplete": "?app_label=annotation&model_name=batch&field_name=test_set",
    # Who may come in sees what is wrong: nothing has to be simulated and drawn for each of them.
    "scoring:plan": "?rate=0",
    "scoring:plan_document": "?rate=0",
}
SENT: dict[tuple[str, str], dict[str, Any]] = {
    ("scoring:draft_plan", "post"): {"data": {"query": "rate=0"}}
}
CASES = [
    (name, method, expected)
    for name, address in TABLE.items()
    for method, expected in address.methods()
]


@pytest.mark.parametrize(("name", "method", "expected"), CASES, ids=lambda case: str(case)[:40])
def test_lets_in_who_may(world: World, name: str, method: str, expected: str) -> None:
    path = reverse(name, args=TABLE[name].arguments(world))
    wanted = dict(zip(ACTORS, expected.split(), strict=True))
    query, sent = QUERIES.get(name, ""), SENT.get((name, method), {})
    assert asked(world, method, path, query, **sent) == wanted


@pytest.mark.parametrize(
    ("name", "method", "expected"), [case for case in CASES if case[0].startswith(API)], ids=str
)
def test_opens_the_same_by_a_token(world: World, name: str, method: str, expected: str) -> None:
    path = reverse(name, args=TABLE[name].arguments(world))
    wanted = dict(zip(ACTORS, expected.split(), strict=True))
    assert asked(world, method, path, by_token=True) == wanted


@pytest.mark.parametrize("name", [name for name in TABLE if name.startswith(API)])
def test_takes_no_other_method_of_anybody(world: World, name: str) -> None:
    path = reverse(name, args=TABLE[name].arguments(world))
    wanted = dict(zip(ACTORS, NOT_ALLOWED.split(), strict=True))
    others = {"put", "patch", "delete"} - (TABLE[name].more or {}).keys()
    assert {method: asked(world, method, path, by_token=True) for method in others} == (
        dict.fromkeys(others, wanted)
    )


@pytest.mark.parametrize(("actor", "is_there"), [("editor", True), ("owner", False)])
def test_lets_owners_alone_delete_a_draft(world: World, actor: str, is_there: bool) -> None:
    make.batch(world.draft, world.batch.task)
    path = reverse("admin:annotation_study_delete", args=[world.draft.pk])
    world.client_of(actor).post(path, {"post": "yes"})
    assert Study.objects.filter(pk=world.draft.pk).exists() is is_there


@pytest.mark.parametrize("name", OF_BENCHMARKS)
def test_holds_for_the_pages_of_a_benchmark_too(world: World, name: str) -> None:
    address = TABLE[name]
    arguments = ["benchmark", world.study.benchmark.name, *address.arguments(world)[2:]]
    wanted = dict(zip(ACTORS, address.get.split(), strict=True))
    assert asked(world, "get", reverse(name, args=arguments)) == wanted


# Of what is not there, a history says so to all staff.
ACCOUNTS = [n for n in NAMES if n.startswith(OF_SUPERUSERS) and not n.endswith("_history")]


@pytest.mark.parametrize("name", ACCOUNTS)
def test_keeps_accounts_and_tokens_to_superusers(world: World, name: str) -> None:
    is_of_one = name.endswith(("_change", "_delete"))
    path = reverse(name, args=[world.assignment.pk] if is_of_one else [])
    found = asked(world, "get", path)
    assert found.pop("superuser") != "login"
    assert set(found.values()) == {"login", "no"}


WITH_NUMBER = [*TABLE, *(n for n in ACCOUNTS if n.endswith(("_change", "_delete"))), TRY_ONE]


@pytest.mark.parametrize("digits", [30, 5000])
def test_finds_nothing_at_a_number_of_very_many_digits(world: World, digits: int) -> None:
    client, giant, answers = world.client_of("superuser"), "9" * digits, {}
    for name in WITH_NUMBER:
        given = TABLE[name].arguments(world) if name in TABLE else [1]
        arguments = [giant if isinstance(one, int) else one for one in given]
        if giant in arguments:
            path = reverse(name, args=arguments)
            answers[name] = {client.get(path).status_code, client.post(path).status_code}
    assert len(answers) > 50
    # The admin leads to its front page from what is not there.
    assert {n: a for n, a in answers.items() if not a <= {302, 400, 404, 405, 415}} == {}
