"""The German catalogue of the annotators' pages: complete, true to its originals, and what a German
browser sees."""

import ast
import re
import shutil
import struct
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from gettext import GNUTranslations
from html import escape
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django.utils.translation.template import templatize

from annotation.models import Assignment, Batch, Kind, WorkState
from config.catalogues import compile_catalogues
from tests import make

FOLDER = settings.LOCALE_PATHS[0] / "de" / "LC_MESSAGES"
# What annotators meet; researchers' pages are in English.
PARTS = ("annotation/access", "annotation/kinds", "annotation/work", "config")
# What a translation must keep: %(name)s, %%, {name} and tags.
KEPT = re.compile(r"%\(\w+\)[-#0 +.\d]*[a-z]|%%|\{\w*\}|</?\w+>")
STRING = r"""u?("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')"""
MARKED = re.compile(rf"\b(n?p?gettext|_)\({STRING}(?:, {STRING})?")
WORK = "/work/"


# Reading a .po file: blocks of lines, `keyword "text"`, and texts continued on the next line.


@dataclass
class Message:
    flags: str = ""
    texts: dict[str, str] = field(default_factory=dict)

    @property
    def original(self) -> str:
        return self.texts["msgid"]

    @property
    def plural(self) -> str | None:
        return self.texts.get("msgid_plural")

    @property
    def key(self) -> str:
        context = self.texts.get("msgctxt")
        return self.original if context is None else f"{context}\x04{self.original}"

    @property
    def translations(self) -> list[str]:
        return [text for keyword, text in self.texts.items() if keyword.startswith("msgstr")]


def read_po(path: Path) -> list[Message]:
    """Every message except the header."""
    blocks = path.read_text(encoding="utf-8").strip().split("\n\n")
    return [message for message in map(_read_block, blocks) if message.original]


def _read_block(block: str) -> Message:
    message, keyword = Message(), ""
    for line in block.splitlines():
        if line.startswith("#"):
            message.flags += line if line.startswith(("#,", "#~")) else ""
        elif line.startswith('"'):
            message.texts[keyword] += ast.literal_eval(line)
        else:
            keyword, text = line.split(" ", 1)
            message.texts[keyword] = ast.literal_eval(text)
    return message


@pytest.fixture(scope="module")
def messages() -> list[Message]:
    return read_po(FOLDER / "django.po")


# The catalogue


def test_translates_every_message(messages: list[Message]) -> None:
    assert len(messages) > 200
    assert [m.original for m in messages if not all(m.translations)] == []
    assert [m.original for m in messages if m.plural and len(m.translations) != 2] == []


def test_leaves_nothing_fuzzy_or_out_of_use(messages: list[Message]) -> None:
    assert [m.original for m in messages if "fuzzy" in m.flags or "#~" in m.flags] == []


def test_keeps_every_placeholder(messages: list[Message]) -> None:
    """Each plural form against its own: German has the same two as English."""
    pairs = [
        pair
        for m in messages
        for pair in zip(m.translations, (m.original, m.plural or ""), strict=False)
    ]
    assert [text for text, original in pairs if _kept(text) != _kept(original)] == []


def _kept(text: str) -> Counter[str]:
    return Counter(KEPT.findall(text))


def test_quotes_as_german_does(messages: list[Message]) -> None:
    texts = [text for m in messages for text in m.translations]
    assert [text for text in texts if "”" in text or text.count("„") != text.count("“")] == []


def test_is_compiled_from_its_source(messages: list[Message], tmp_path: Path) -> None:
    """Users need no gettext: it is compiled where an installation is set up."""
    shutil.copytree(settings.LOCALE_PATHS[0], tmp_path, dirs_exist_ok=True)
    compiled = tmp_path / "de" / "LC_MESSAGES" / "django.mo"
    compiled.unlink(missing_ok=True)
    compile_catalogues(tmp_path)
    _magic, _revision, count = struct.unpack("<3I", compiled.read_bytes()[:12])
    assert count == len(messages) + 1  # its header
    with compiled.open("rb") as file:
        catalogue = GNUTranslations(file)
    for message in messages:
        if message.plural is None:
            translated = [catalogue.gettext(message.key)]
        else:
            translated = [catalogue.ngettext(message.key, message.plural, n) for n in (1, 2)]
        assert translated == message.translations


# What is marked in the project is in the catalogue; if not, run `make messages`.


def _marked_in_templates(folder: Path) -> Iterator[str]:
    for path in sorted(folder.rglob("*.html")):
        source = templatize(path.read_text(encoding="utf-8"))
        for name, *strings in MARKED.findall(source):
            yield _key(name, [ast.literal_eval(string) for string in strings if string])


def _marked_in_code(folder: Path) -> Iterator[str]:
    for path in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
                continue
            strings = [str(a.value) for a in node.args if isinstance(a, ast.Constant)]
            if strings and re.fullmatch(r"_|n?p?gettext(_lazy)?", node.func.id):
                yield _key(node.func.id, strings)


def _key(name: str, strings: Sequence[str]) -> str:
    """As in the catalogue, the context first; a percent sign is doubled by `templatize`."""
    return "\x04".join(strings[:2]) if "pgettext" in name else strings[0]


def test_has_every_text_of_the_pages(messages: list[Message]) -> None:
    marked = set(_marked_in_templates(settings.BASE_DIR / "templates"))
    assert "I agree to take part" in marked
    assert sorted(marked - {message.key for message in messages}) == []


def test_has_every_text_of_the_code(messages: list[Message]) -> None:
    marked = {key for part in PARTS for key in _marked_in_code(settings.BASE_DIR / part)}
    assert "Choose one answer, then send it." in marked
    assert sorted(marked - {message.key for message in messages}) == []


# The annotator's pages, for a browser that asks for German


def german() -> Client:
    return Client(headers={"accept-language": "de-AT,de;q=0.9,en;q=0.5"})


def shown(response: Any) -> str:
    page = response.content.decode()
    assert '<html lang="de" dir="ltr">' in page
    return page


def entered(client: Client, batch: Batch) -> str:
    address = reverse("annotation:join_batch", args=[batch.join_token])
    return shown(client.get(address, follow=True))


def submitted(client: Client, assignment: Assignment) -> str:
    data = {"step": assignment.step, **make.right_answer(assignment)}
    return shown(client.post("/work/submit/", data, follow=True))


def english_in(page: str, messages: list[Message]) -> list[str]:
    """The sentences of the originals that a page shows as they are."""
    words = [m.original for m in messages if m.original.count(" ") > 1 and not _kept(m.original)]
    return [original for original in words if escape(original) in page or original in page]


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
    client = german()
    pages = [entered(client, make.running_batch(kind=kind))]
    assert "Ich willige ein" in pages[-1]
    pages.append(shown(client.post("/work/consent/", {"agree": "1"}, follow=True)))
    assert "Was zu tun ist" in pages[-1]
    pages.append(shown(client.post("/work/begin/", follow=True)))
    assert "Antwort absenden" in pages[-1]
    assert missing in pages[-1]
    assignment = Assignment.objects.get()
    refused = client.post("/work/submit/", {"step": 0})
    assert missing in shown(refused)
    while not assignment.is_finished:
        pages.append(submitted(client, assignment))
        assignment.refresh_from_db()
        if assignment.state == WorkState.REVEALED:
            assert "<strong>Richtig.</strong>" in pages[-1]
            client.post("/work/next/", {"step": assignment.step})
            client.post("/work/begin/", {"step": assignment.step + 1})
            assignment.refresh_from_db()
    assert "Geschafft. Vielen Dank!" in pages[-1]
    assert [english_in(page, messages) for page in pages] == [[] for _page in pages]


@pytest.mark.django_db
def test_says_in_german_why_nobody_gets_in() -> None:
    batch = make.running_batch(wanted=1)
    make.joined(batch, at=timezone.now())
    assert "Alle Plätze dieser Studie sind belegt" in entered(german(), batch)
    assert "Dieser Browser nimmt an keiner Studie teil." in shown(german().get(WORK))


@pytest.mark.django_db
def test_renders_an_example_anew_for_each_language() -> None:
    client = german()
    entered(client, make.running_batch(kind=Kind.SPANS))
    client.post("/work/consent/", {"agree": "1"})
    client.post("/work/begin/")
    assert "None here" not in shown(client.get(WORK))
    in_english = client.get(WORK, headers={"accept-language": "en"}).content.decode()
    assert '<html lang="en" dir="ltr">' in in_english
    assert "None here" in in_english
    assert "Hier nichts" not in in_english
