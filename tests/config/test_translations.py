"""The catalogues of the annotators' pages: complete, true to their originals, and what is seen
where the texts or the browser are German."""

import ast
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from gettext import GNUTranslations
from html import escape
from pathlib import Path
from typing import Any

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.plurals import get_plural
from babel.messages.pofile import read_po
from django.conf import settings
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django.utils.translation.template import templatize

from annotation.models import Assignment, Batch, Kind, WorkState
from annotation.studies.lifecycle import start_study
from config.catalogues import compile_catalogues, locales
from tests import make
from tests.every import every

FOLDER = settings.LOCALE_PATHS[0]
NAMES = sorted(path.name for path in FOLDER.iterdir())
# What stands for “ and ” in each.
QUOTES = {
    **{"ar": "«»", "de": "„“", "es": "«»", "fr": "«»", "hi": "“”", "ja": "「」", "pt": "“”"},
    **{"ru": "«»", "zh_Hans": "“”"},
}
# What annotators meet; researchers' pages are in English.
PARTS = ("annotation/access", "annotation/kinds", "annotation/work", "config")
# What a translation must keep: %(name)s, %%, {name}, tags and entities.
KEPT = re.compile(r"%\(\w+\)[-#0 +.\d]*[a-z]|%%|\{\w*\}|</?\w+[^>]*>|&#?\w+;")
STRING = r"""u?("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')"""
MARKED = re.compile(rf"\b(n?p?gettext|_)\({STRING}(?:, {STRING})?")
WORK = "/work/"


# The catalogues


def catalogue(name: str) -> Catalog:
    with (FOLDER / name / "LC_MESSAGES" / "django.po").open("rb") as file:
        return read_po(file, abort_invalid=True)


def messages_of(name: str) -> list[Message]:
    """Every message except the header."""
    return [message for message in catalogue(name) if message.id]


def originals(message: Message) -> list[str]:
    return [message.id] if isinstance(message.id, str) else list(message.id)


def translations(message: Message) -> list[str]:
    return [message.string] if isinstance(message.string, str) else list(message.string or ())


@pytest.fixture(scope="module")
def messages() -> list[Message]:
    return messages_of("de")


def test_finds_every_language_in_its_folder() -> None:
    assert [code for code, _name in settings.LANGUAGES] == [
        *("ar", "de", "en", "es", "fr", "hi", "ja", "pt", "ru", "zh-hans"),
    ]
    assert dict(settings.LANGUAGES)["ja"] == "日本語"
    assert settings.LANGUAGES_BIDI == ["ar"]


def test_takes_another_language_by_its_catalogue_alone(tmp_path: Path) -> None:
    source = tmp_path / "ps" / "LC_MESSAGES" / "django.po"
    source.parent.mkdir(parents=True)
    shutil.copy(FOLDER / "de" / "LC_MESSAGES" / "django.po", source)
    assert list(locales(tmp_path)) == ["en", "ps"]
    assert locales(tmp_path)["ps"].text_direction == "rtl"


@pytest.mark.parametrize("name", NAMES)
def test_translates_every_message(name: str, messages: list[Message]) -> None:
    own, forms = messages_of(name), catalogue(name).num_plurals
    assert [message.id for message in own] == [message.id for message in messages]
    assert forms == get_plural(name).num_plurals
    assert [m.id for m in own if not every(text.strip() for text in translations(m))] == []
    assert [m.id for m in own if m.pluralizable and len(translations(m)) != forms] == []


@pytest.mark.parametrize("name", NAMES)
def test_leaves_nothing_fuzzy_or_out_of_use(name: str) -> None:
    assert [message.id for message in messages_of(name) if message.fuzzy] == []
    assert catalogue(name).obsolete == {}


@pytest.mark.parametrize("name", NAMES)
def test_keeps_every_placeholder(name: str) -> None:
    """Each plural form as one of the originals has them."""
    wrong = [
        text
        for message in messages_of(name)
        for text in translations(message)
        if _kept(text) not in [_kept(original) for original in originals(message)]
    ]
    assert wrong == []


def _kept(text: str) -> Counter[str]:
    return Counter(KEPT.findall(text))


@pytest.mark.parametrize("name", NAMES)
def test_quotes_as_the_language_does(name: str) -> None:
    texts = [text for message in messages_of(name) for text in translations(message)]
    begin, end = list(QUOTES[name])
    others = set("„“”«»「」") - {begin, end}
    # Tags have quotation marks of their own.
    bare = [re.sub("<[^>]*>", "", text) for text in texts]
    assert [text for text in bare if others & set(text) or '"' in text] == []
    assert [text for text in bare if text.count(begin) != text.count(end)] == []


def test_quotes_buttons_by_what_they_say() -> None:
    """“Send answer” and the like, which other sentences speak of."""
    for name in NAMES:
        told = {originals(m)[0]: translations(m)[0] for m in messages_of(name)}
        for button in ("Send answer", "None here", "None of these", "Exact", "Stop taking part"):
            speaking = [text for text in told if f"“{button}”" in text]
            assert speaking
            assert [text for text in speaking if told[button] not in told[text]] == []


@pytest.mark.parametrize("name", NAMES)
def test_is_compiled_from_its_source(name: str, tmp_path: Path) -> None:
    """Users need no gettext: it is compiled where an installation is set up."""
    shutil.copytree(FOLDER / name, tmp_path / name)
    compiled = tmp_path / name / "LC_MESSAGES" / "django.mo"
    compiled.unlink(missing_ok=True)
    compile_catalogues(tmp_path)
    with compiled.open("rb") as file:
        read = GNUTranslations(file)
    for message in messages_of(name):
        first, *plural = originals(message)
        told = {read.ngettext(first, plural[0], n) for n in range(130)} if plural else None
        single = read.pgettext(message.context, first) if message.context else read.gettext(first)
        assert (told or {single}) == set(translations(message))


# What is marked in the project is in the catalogue; if not, run `make messages`.


def _marked_in_templates(folder: Path) -> Iterator[str]:
    for path in sorted(folder.rglob("*.html")):
        source = templatize(path.read_text(encoding="utf-8"))
        for name, *strings in MARKED.findall(source):
            # Behind its context, where it has one.
            yield ast.literal_eval(strings["pgettext" in name])


def _marked_in_code(folder: Path) -> Iterator[str]:
    for path in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
                continue
            strings = [str(a.value) for a in node.args if isinstance(a, ast.Constant)]
            if strings and re.fullmatch(r"_|n?p?gettext(_lazy)?", node.func.id):
                yield strings[0]


def test_has_every_text_of_the_pages(messages: list[Message]) -> None:
    marked = set(_marked_in_templates(settings.BASE_DIR / "templates"))
    assert "I agree to take part" in marked
    assert sorted(marked - {originals(message)[0] for message in messages}) == []


def test_has_every_text_of_the_code(messages: list[Message]) -> None:
    marked = {key for part in PARTS for key in _marked_in_code(settings.BASE_DIR / part)}
    assert "Choose one answer, then send it." in marked
    assert sorted(marked - {originals(message)[0] for message in messages}) == []


# The annotators' pages: in the language of what they read, or of their browser


def from_austria() -> Client:
    return Client(headers={"accept-language": "de-AT,de;q=0.9,en;q=0.5"})


def shown(response: Any, language: str = "de") -> str:
    page = response.content.decode()
    direction = "rtl" if language == "ar" else "ltr"
    assert f'<html lang="{language}" dir="{direction}">' in page
    return page


def entered(client: Client, batch: Batch, language: str = "de") -> str:
    address = reverse("annotation:join_batch", args=[batch.join_token])
    return shown(client.get(address, follow=True), language)


def english_in(page: str, messages: list[Message]) -> list[str]:
    """The sentences of the originals that a page shows as they are."""
    words = [originals(m)[0] for m in messages if originals(m)[0].count(" ") > 1]
    return [text for text in words if not _kept(text) and (escape(text) in page or text in page)]


def worked_through(kind: str, language: str) -> list[str]:
    """Every page from the consent to the code, one of them refusing an empty answer."""
    client = Client()
    pages = [entered(client, make.running_batch(kind=kind, language=language), language)]
    pages.append(client.post("/work/consent/", {"agree": "1"}, follow=True).content.decode())
    pages.append(client.post("/work/begin/", follow=True).content.decode())
    assignment = Assignment.objects.get()
    pages.append(client.post("/work/submit/", {"step": 0}).content.decode())
    while not assignment.is_finished:
        data = {"step": assignment.step, **make.right_answer(assignment)}
        pages.append(shown(client.post("/work/submit/", data, follow=True), language))
        assignment.refresh_from_db()
        if assignment.state == WorkState.REVEALED:
            client.post("/work/next/", {"step": assignment.step})
            client.post("/work/begin/", {"step": assignment.step + 1})
            assignment.refresh_from_db()
    return pages


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("kind", "missing"),
    [
        (Kind.CHOICE, "Wählen Sie eine Antwort"),
        (Kind.SPANS, "Wählen Sie Wörter im Text"),
        (Kind.CANDIDATE, "Wählen Sie eine Antwort"),
    ],
)
def test_speaks_german_from_consent_to_the_code(
    kind: str, missing: str, messages: list[Message]
) -> None:
    pages = worked_through(kind, "de")
    told = ["Ich willige ein", "Was zu tun ist", "Antwort absenden", missing]
    told.append("<strong>Richtig.</strong>")
    assert every(text in page for text, page in zip(told, pages[:5], strict=True))
    assert "Geschafft. Vielen Dank!" in pages[-1]
    assert [english_in(page, messages) for page in pages] == [[] for _page in pages]


@pytest.mark.django_db
@pytest.mark.parametrize("name", [name for name in NAMES if name != "de"])
def test_speaks_every_language_from_consent_to_the_code(name: str) -> None:
    messages = messages_of(name)
    told = {originals(message)[0]: translations(message)[0] for message in messages}
    pages = worked_through(Kind.SPANS, name.lower().replace("_", "-"))
    asked = ("I agree to take part", "What to do", "Send answer", "Choose words in the text, or")
    for text, page in zip(asked, pages[:4], strict=True):
        (found,) = {told[one] for one in told if one.startswith(text)}
        assert escape(found) in page or found in page
    assert told["Done. Thank you!"] in pages[-1]
    assert [english_in(page, messages) for page in pages] == [[] for _page in pages]


@pytest.mark.django_db
def test_says_in_german_why_nobody_gets_in() -> None:
    batch = make.running_batch(wanted=1, language="de")
    make.joined(batch, at=timezone.now())
    assert "Alle Plätze dieser Studie sind belegt" in entered(Client(), batch)
    assert "Dieser Browser nimmt an keiner Studie teil." in shown(from_austria().get(WORK))


@pytest.mark.django_db
def test_renders_an_example_anew_for_each_language() -> None:
    client = Client()
    entered(client, make.running_batch(kind=Kind.SPANS, language="de"))
    client.post("/work/consent/", {"agree": "1"})
    client.post("/work/begin/")
    assert "None here" not in shown(client.get(WORK))
    client.post("/language/", {"language": "en", "next": WORK})
    in_english = shown(client.get(WORK), "en")
    assert "None here" in in_english
    assert "Hier nichts" not in in_english


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("texts", "chosen", "spoken"),
    [
        ("pt-BR", "", "pt"),
        ("zh", "", "zh-hans"),
        ("ar", "", "ar"),
        ("ar", "fr", "fr"),
        ("ar", "tlh", "ar"),
        ("ar", "x" * 600, "ar"),
        ("nl", "", "de"),
        ("und", "", "de"),
        ("", "", "de"),
        ("nl", "ja", "ja"),
    ],
)
def test_speaks_what_was_chosen_or_what_is_read_or_the_browsers(
    texts: str, chosen: str, spoken: str
) -> None:
    client = from_austria()
    client.cookies[settings.LANGUAGE_COOKIE_NAME] = chosen
    entered(client, make.running_batch(language=texts), spoken)
    shown(client.post("/work/consent/", {"agree": "1"}, follow=True), spoken)


@pytest.mark.django_db
@pytest.mark.parametrize(("other", "spoken"), [("ar", "ar"), ("ja", "de")])
def test_speaks_before_the_work_what_all_tasks_of_the_study_are_in(other: str, spoken: str) -> None:
    study = make.study(make.benchmark())
    for language in ("ar", other):
        make.batch(study, make.task(study.benchmark, language=language), zero_shot=True)
    start_study(study, at=make.NOON)
    client = from_austria()
    entered(client, study.batches.earliest("pk"), spoken)
    # Then it is known what is read.
    shown(client.post("/work/consent/", {"agree": "1"}, follow=True), "ar")


@pytest.mark.django_db
def test_offers_every_other_language_by_its_own_name_without_scripts() -> None:
    client = Client()
    page = entered(client, make.running_batch(language="ar"), "ar")
    offered = re.findall(r'name="language" value="([\w-]+)" lang="([\w-]+)">([^<]+)<', page)
    assert [code for code, _lang, _name in offered] == [
        code for code, _name in settings.LANGUAGES if code != "ar"
    ]
    assert [name for code, lang, name in offered if code == lang == "fr"] == ["Français"]
    client.post("/language/", {"language": "fr", "next": "/work/consent/"})
    shown(client.get("/work/consent/"), "fr")
    client.post("/language/", {"language": "tlh", "next": "/work/consent/"})
    shown(client.get("/work/consent/"), "fr")
