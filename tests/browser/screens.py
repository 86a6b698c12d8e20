"""Every state of the annotator's pages, and every page of the researcher's, as pictures in
docs/screens/: `make screens`.

Not a test: it takes pictures of what the tests drive. It runs under pytest for the sake of the live
server."""

import io
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from PIL import Image
from playwright.sync_api import Error, expect

from annotation.models import Batch, Example, Kind, Outcome, Role, Study, Task
from annotation.payments.ledger import approve
from annotation.studies.lifecycle import close_study
from annotation.work.commenting import add_comment
from annotation.work.finishing import finish
from annotation.work.page import picture_of
from tests import make
from tests.annotation.benchmarks.sampled import sampled_task
from tests.browser.conftest import LAPTOP, PHONE, Comes
from tests.browser.person import Person
from tests.scoring.bundle.packed import packed, zipped
from tests.scoring.comparison import measured
from tests.scoring.episodes.measured import answered, worked
from tests.texts import Text, running_batch_of

pytestmark = pytest.mark.django_db(transaction=True)

FOLDER = settings.BASE_DIR / "docs" / "screens"
COLOURS = 128
# Of a long page the beginning says what it is like.
MOST_HIGH = 2000
LINK = "https://study.example.org/resume/m2Zq81vB0tYc4hWnJ5sKxA/"
ATTEMPTS = 5

STUDY = {
    "title": "Reading short texts",
    "contact": "reading-study@example.org",
    "consent_text": "You read short texts and answer questions about them.\n\nWe store your "
    "answers and the time they take under a pseudonym, and publish them without it.",
    # So that there is a rule to be told of.
    "min_training_score": 50,
}
REVIEW = Text(
    "The first half hour is slow, and the two leads never seem to be in the same film. Then the "
    "power goes out, everybody has to talk in the dark, and it turns into the funniest, warmest "
    "hour I have spent in a cinema this year.",
    question="Is this review good or bad?",
    gold=["good"],
    explanation="A review counts by its last word: here the praise.",
)
FERRY = (
    "The ferry from Split to Vis takes a little over two hours. Marta Kovač, who has steered it "
    "for eleven years, learned the trade on the Danube at Novi Sad; her brother still works "
    "there, for the shipping company Dunav Line."
)
PLACES = Text(
    FERRY,
    question="List all the places that the text names.",
    gold=["Split", "Vis", "Danube", "Novi Sad"],
    explanation="A river is a place. “Dunav Line” is a company.",
)
NOTHING = Text(FERRY, question="List all the dates that the text names.", gold=[])
TIME = Text(FERRY, question="How long has Marta Kovač steered the ferry?", gold=["eleven years"])
WHO = Text(
    FERRY,
    question="@placeholder employs the brother of the woman at the helm.",
    gold=["Dunav Line"],
    candidates=["Split", "Vis", "Marta Kovač", "Danube", "Novi Sad", "Dunav Line"],
)
ARABIC = Text(
    "تستغرق العبّارة من سبليت إلى فيس أكثر من ساعتين بقليل. تعلمت مارتا المهنة على نهر الدانوب.",
    question="ما الأماكن المذكورة في النص؟",
    gold=["سبليت", "فيس"],
)
DESCRIPTIONS = {
    Kind.CHOICE: "You read a review of a film and say whether it is good or bad.",
    Kind.SPANS: "You read a text and mark every piece of it that answers the question. There may "
    "be several, or none.",
    Kind.TEXT: "You read a text and answer a question about it in a few words.",
    Kind.NUMBER: "You read a problem and answer it with a number.",
    Kind.CANDIDATE: "You read a text and a sentence with a gap, and choose what belongs there.",
}


def batch_of(kind: str, training: Text, *more: Text, **fields: Any) -> Batch:
    description = DESCRIPTIONS[Kind(kind)]
    return running_batch_of(
        kind, training=[training], tests=[training, *more], study=STUDY, description=description,
        slug=f"{kind}-{training.question[:9]}".replace(" ", "-"), **fields,
    )  # fmt: skip


class Album:
    """The pictures of one window and colour scheme."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def shows(self, person: Person, name: str, *, whole: bool = False) -> None:
        """What is in the window, or the whole page."""
        # What differs from run to run would make every picture a new one.
        person.page.evaluate(
            """([link, drawn]) => {
              const put = (selector, text) => document.querySelectorAll(selector)
                .forEach((element) => { element.lastChild.textContent = text; });
              put(".who [translate=no]", "KV7PMXR4");
              for (const picture of document.querySelectorAll(".link-picture")) {
                picture.innerHTML = drawn;
              }
              put(".panel > form strong[translate=no]", "KV7PMXR4");
              put("button[name=who]", "Yes, go on as KV7PMXR4");
              put(".resume", link);
              put(".devices strong", "study.example.org/go");
              put(".devices .code", "KVRD-7XQM");
              put(".progress-pay", " 4 min · 0.85 USD");
            }""",
            [LINK, picture_of(LINK)],
        )
        picture = Image.open(io.BytesIO(_picture(person, whole=whole)))
        beginning = picture.crop((0, 0, picture.width, min(picture.height, MOST_HIGH)))
        small = beginning.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
        small.save(self.folder / f"{name}.png", optimize=True)


def _picture(person: Person, *, whole: bool = False) -> bytes:
    for _ in range(ATTEMPTS):
        try:
            return person.page.screenshot(animations="disabled", caret="hide", full_page=whole)
        except Error as failure:  # now and then, on a busy machine
            last = failure
    raise last


@pytest.fixture(params=[LAPTOP, PHONE], ids=["1280", "390"])
def size(request: pytest.FixtureRequest) -> tuple[int, int]:
    return request.param


@pytest.fixture(params=["light", "dark"])
def scheme(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def album(size: tuple[int, int], scheme: str) -> Album:
    return Album(FOLDER / f"{size[0]}-{scheme}")


@pytest.fixture
def people(somebody: Comes, size: tuple[int, int], scheme: str) -> Comes:
    def come(**options: Any) -> Person:
        return somebody(size, touch=size == PHONE, color_scheme=scheme, **options)

    return come


def test_entering(people: Comes, album: Album) -> None:
    person = people()
    person.join(batch_of(Kind.CHOICE, REVIEW))
    album.shows(person, "consent", whole=True)
    person.page.get_by_role("button", name="I agree").click()
    album.shows(person, "description")
    person.page.evaluate("scrollTo(0, document.body.scrollHeight)")
    album.shows(person, "foot")
    person.page.get_by_role("button", name="Continue on another device").click()
    album.shows(person, "another-device", whole=True)
    person.page.get_by_role("link", name="Back to the work").click()
    person.page.get_by_text("Stop taking part").click()
    album.shows(person, "stop")
    person.open("/go/")
    album.shows(person, "enter-code")


def test_problem_and_closing(people: Comes, album: Album) -> None:
    batch = batch_of(Kind.CHOICE, REVIEW)
    person = people().start(batch)
    person.page.get_by_text("Report a problem").click()
    person.page.get_by_role("textbox").fill("The second half of this review is missing.")
    album.shows(person, "problem")
    close_study(batch.study, at=timezone.now())
    person.open("/work/")
    album.shows(person, "closing")
    person.chooses(1)
    person.goes_on()
    album.shows(person, "end-closed")


def test_choice(people: Comes, album: Album) -> None:
    person = people().start(batch_of(Kind.CHOICE, REVIEW))
    album.shows(person, "choice-answer")
    person.sends()
    expect(person.page.get_by_role("alert")).to_be_visible()
    album.shows(person, "choice-nothing-chosen")
    person.chooses(1)
    album.shows(person, "choice-chosen")
    person.page.context.set_offline(True)
    person.sends()
    expect(person.page.locator("[data-save-note]")).to_contain_text("Not saved")
    album.shows(person, "not-saved-yet")
    person.page.context.set_offline(False)
    person.page.wait_for_selector("[data-panel=reveal]")
    album.shows(person, "choice-right")
    person.goes_on()
    album.shows(person, "practice-done")
    person.goes_on()
    album.shows(person, "choice-test")
    person.page.get_by_text("Instructions").click()
    album.shows(person, "instructions")
    person.page.keyboard.press("?")
    album.shows(person, "keys")


def test_choice_that_was_wrong(people: Comes, album: Album) -> None:
    person = people().start(batch_of(Kind.CHOICE, REVIEW))
    person.chooses(0)
    person.goes_on()
    album.shows(person, "choice-wrong")


def test_candidate(people: Comes, album: Album) -> None:
    person = people().start(batch_of(Kind.CANDIDATE, WHO))
    album.shows(person, "candidate-answer")
    person.chooses(2)
    album.shows(person, "candidate-chosen")
    person.goes_on()
    album.shows(person, "candidate-wrong")


def test_text(people: Comes, album: Album) -> None:
    person = people().start(batch_of(Kind.TEXT, TIME))
    album.shows(person, "text-answer")
    person.types("two hours")
    person.goes_on()
    album.shows(person, "text-wrong")


def test_spans(people: Comes, album: Album) -> None:
    person = people().start(batch_of(Kind.SPANS, PLACES))
    album.shows(person, "spans-answer")
    person.page.locator(".span-word", has_text="Novi").click()
    album.shows(person, "spans-first-word")
    person.answers(["Sad", "Split", "Dunav Line", "Danube"])
    album.shows(person, "spans-chosen")
    person.page.locator("[data-span-exact]").click()
    album.shows(person, "spans-exact")
    person.goes_on()
    album.shows(person, "spans-partly-right")


def test_spans_where_none_is_right(people: Comes, album: Album) -> None:
    person = people().start(batch_of(Kind.SPANS, NOTHING))
    person.presses_none()
    album.shows(person, "spans-none")
    person.answers([])
    person.goes_on()
    album.shows(person, "spans-none-right")


def test_one_span_at_most(people: Comes, album: Album) -> None:
    person = people().start(batch_of(Kind.SPANS, TIME, max_spans=1))
    person.answers(["eleven years"])
    album.shows(person, "one-span-chosen")
    person.goes_on()
    album.shows(person, "one-span-right")


def test_from_right_to_left(people: Comes, album: Album) -> None:
    batch = batch_of(Kind.SPANS, ARABIC, direction="rtl", language="ar")
    person = people().start(batch)
    person.answers(["سبليت"])
    album.shows(person, "right-to-left-chosen")
    person.goes_on()
    album.shows(person, "right-to-left-reveal")


def test_without_javascript(people: Comes, album: Album) -> None:
    person = people().start(batch_of(Kind.SPANS, PLACES))
    album_of_plain = people(java_script_enabled=False)
    cookies: Any = person.page.context.cookies()
    album_of_plain.page.context.add_cookies(cookies)
    album_of_plain.open("/work/")
    small = Image.open(io.BytesIO(_picture(album_of_plain))).convert("RGB").quantize(COLOURS)
    small.save(album.folder / "without-javascript.png", optimize=True)


@pytest.mark.parametrize("outcome", Outcome.values)
def test_end(people: Comes, album: Album, outcome: str) -> None:
    person = people()
    batch = running_batch_of(Kind.CHOICE, training=[REVIEW], study={**STUDY, "via": "prolific"})
    person.join(batch, f"?PROLIFIC_PID={make.prolific_id(1)}")
    person.page.get_by_role("button", name="I agree").click()
    assignment = person.assignment
    assignment.paid_ms, assignment.shown_at = 1_254_000, None
    assignment.screening = {"reason": "floor", "score": 45, "floor": 50}
    assignment.save()
    finish(assignment, outcome, at=timezone.now())
    person.page.reload()
    album.shows(person, f"end-{outcome}")


def test_who_declines_and_who_comes_back(people: Comes, album: Album) -> None:
    person = people()
    batch = running_batch_of(Kind.CHOICE, training=[REVIEW], study=STUDY)
    person.join(batch)
    person.page.get_by_role("button", name="No, thanks").click()
    album.shows(person, "declined")
    person.start(batch)
    person.join(batch)
    album.shows(person, "is-this-you")


def test_refusals(people: Comes, album: Album) -> None:
    full = running_batch_of(Kind.CHOICE, training=[REVIEW], wanted=1, study=STUDY)
    make.joined(full, at=timezone.now())
    person = people()
    person.join(full)
    album.shows(person, "full")
    stranger = people()
    stranger.open("/work/")
    album.shows(stranger, "not-let-in")


# Researchers


@pytest.fixture
def at_a_desk(people: Comes) -> Person:
    """Somebody who is signed in, with all rights."""
    return _signed_in(people())


def _signed_in(person: Person) -> Person:
    client = Client()
    user = User.objects.filter(username="researcher").first()
    client.force_login(user or User.objects.create_superuser("researcher"))
    session = client.cookies[settings.SESSION_COOKIE_NAME].value
    cookie: Any = {"name": settings.SESSION_COOKIE_NAME, "value": session, "url": person.origin}
    person.page.context.add_cookies([cookie])
    return person


def test_what_leaves(at_a_desk: Person, album: Album) -> None:
    batch = measured.cell([0, 1, 2, 5, 3])
    study = batch.study
    study.title = "Pilot on short reviews"
    study.save()
    measured.run(batch.task, wrong=2)
    at_a_desk.open(reverse("annotation:exports", args=[study.slug]))
    album.shows(at_a_desk, "data", whole=True)
    example = batch.test_set.examples.order_by("pk")[0]
    at_a_desk.open(reverse("scoring:correct_gold", args=["study", study.slug, example.pk]))
    page = at_a_desk.page
    label = next(label for label in make.LABELS if [label] != measured.gold(example))
    page.get_by_label("Gold", exact=True).fill(label)
    page.get_by_label("Reason").fill("It was mislabelled.")
    page.get_by_role("button", name="See what it would change").click()
    expect(page.get_by_text("What this would change")).to_be_visible()
    album.shows(at_a_desk, "correct-gold", whole=True)


def test_what_was_changed(at_a_desk: Person, album: Album) -> None:
    batch = measured.cell([0, 1, 2])
    close_study(batch.study, at=timezone.now())
    at_a_desk.open(reverse("annotation:log", args=[batch.study.slug]))
    album.shows(at_a_desk, "log")
    at_a_desk.open(reverse("admin:annotation_study_archive", args=[batch.study.pk]))
    album.shows(at_a_desk, "archive")


def test_studies_of_others(at_a_desk: Person, album: Album, tmp_path: Path) -> None:
    batch = measured.cell([0, 1, 2, 5, 3])
    batch.study.title = "Reviews, read in Graz"
    batch.study.save()
    bundle = zipped(packed(batch.study), tmp_path / "bundle.zip")
    at_a_desk.open(reverse("scoring:imported_studies"))
    page = at_a_desk.page
    page.get_by_label("A bundle").set_input_files(bundle)
    album.shows(at_a_desk, "studies-of-others")
    page.get_by_role("button", name="Check and show").click()
    page.get_by_role("link", name="Open").click()
    expect(page.get_by_role("heading", name="Reviews, read in Graz")).to_be_visible()
    album.shows(at_a_desk, "study-of-others", whole=True)


def test_every_page_of_a_desk(somebody: Comes) -> None:
    """In one go: the demonstration takes its time to load."""
    call_command("load_demo")
    pages = {**_of_the_demonstration(), **_of_a_running_study(), **_of_a_draft()}
    maker = _signed_in(somebody())
    maker.open(pages["rehearsals"])
    maker.page.get_by_role("button", name="Rehearse the study").click()
    expect(maker.page.get_by_text("The table that would come out")).to_be_visible(timeout=300_000)
    pages["rehearsal"] = maker.page.url.removeprefix(maker.origin)
    maker.open(pages["analysis"])
    heading = maker.page.get_by_role("heading", name="People against systems, on the same items")
    expect(heading).to_be_visible(timeout=300_000)
    for size in (LAPTOP, PHONE):
        for scheme in ("light", "dark"):
            person = _signed_in(somebody(size, touch=size == PHONE, color_scheme=scheme))
            album = Album(FOLDER / f"{size[0]}-{scheme}")
            for name, address in pages.items():
                person.open(address)
                _wait_for_figures(person)
                album.shows(person, f"desk-{name}", whole=True)


def _of_the_demonstration() -> dict[str, str]:
    study = Study.objects.get(slug="demonstration-finished")
    name = study.slug
    example = Example.objects.filter(task__benchmark=study.benchmark, items__isnull=False)
    tested = example.filter(items__item_set__role=Role.TEST).order_by("pk")[0]
    return {
        "home": reverse("annotation:home"),
        "settings": reverse("annotation:settings", args=[study.slug]),
        "comparison": reverse("scoring:comparison", args=["study", name]),
        "comparison-wide": reverse("scoring:comparison", args=["study", name]) + "?view=wide",
        "analysis": reverse("scoring:analysis", args=["study", name]),
        "items": reverse("scoring:items", args=["study", name]),
        "item": reverse("scoring:item", args=["study", name, tested.pk]),
        "report": reverse("scoring:report", args=[name]),
        "leaderboard": reverse("scoring:leaderboard", args=[study.benchmark.name]),
        "planner": reverse("scoring:plan"),
        "admin": reverse("admin:index"),
        "admin-studies": reverse("admin:annotation_study_changelist"),
        "new-study": reverse("annotation:new_study"),
        "admin-benchmark": reverse("admin:annotation_benchmark_change", args=[study.benchmark.pk]),
        "import-benchmark": reverse("admin:annotation_benchmark_import"),
        "documentation": "/docs/",
    }


def _of_a_running_study() -> dict[str, str]:
    """Five have finished, one is at work, one was screened out."""
    batch = measured.cell([0, 1, 2, 5, 3])
    study, first = batch.study, batch.assignments.order_by("pk")[0]
    study.title = "Pilot on short reviews"
    study.save()
    Task.objects.filter(pk=batch.task_id).update(name="Reviews")
    make.at_work(batch)
    finish(make.joined(batch, at=make.NOON), Outcome.SCREENED_OUT, at=make.NOON)
    add_comment(first, text="The text is cut off.", step=0, at=make.NOON)
    approve(study, [first.pk], at=make.NOON)
    episodes = sampled_task()
    answered(episodes, {1: 3, 2: 6, 7: 6}, protocol=["meta-trained"])
    worked(episodes, {1: [0], 2: [3], 7: [3]}, closed=True)
    return {
        "overview": reverse("annotation:watch", args=[study.slug]),
        "people": reverse("annotation:people", args=[study.slug]),
        "person": reverse("annotation:person", args=[study.slug, first.pk]),
        "payments": reverse("annotation:payments", args=[study.slug]),
        "send-bonuses": reverse("annotation:send_payments", args=[study.slug]),
        "episodes": reverse("scoring:episodes", args=[episodes.benchmark.name]),
    }


def _of_a_draft() -> dict[str, str]:
    task = Task.objects.get(benchmark__name="demo", slug="reviews")
    draft = make.study(
        task.benchmark, via="prolific", slug="pilot-on-reviews", **{**STUDY, "title": "A pilot"}
    )
    batch = make.batch(draft, task, wanted=5)
    return {
        "builder": reverse("scoring:builder", args=[draft.slug]),
        "preview": reverse("annotation:preview", args=[batch.pk]),
        "rehearsals": reverse("scoring:rehearsals", args=[draft.slug]),
        "start": reverse("annotation:start", args=[draft.slug]),
        "copy": reverse("admin:annotation_study_copy", args=[draft.pk]),
    }


def _wait_for_figures(person: Person) -> None:
    """Those further down are drawn when one comes to them."""
    for figure in person.page.locator(".figure:visible").all():
        figure.scroll_into_view_if_needed()
    being_drawn = person.page.get_by_text("The figure is being drawn.").locator("visible=true")
    expect(being_drawn).to_have_count(0)
    person.page.evaluate("scrollTo(0, 0)")
