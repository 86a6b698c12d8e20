"""The documentation as a site, and as the installation shows it."""

import re
import subprocess
from pathlib import Path
from posixpath import dirname, join, normpath

import pytest
from django.conf import settings
from django.template import Context, Template
from django.test import Client
from markdown_it import MarkdownIt
from pytest_django import Settings
from sphinx.cmd.build import build_main

from config.documentation import pages
from config.documentation.searching import search
from tests.documentation import blocks

ROOT: Path = settings.BASE_DIR
OUTSIDE = re.compile(r"^(https?|mailto):")


def test_builds_without_a_warning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status = build_main(
        ["-W", "--keep-going", "-q", "-d", str(tmp_path / "kept"), "docs", str(tmp_path / "site")]
    )
    assert status == 0, capsys.readouterr().err
    commands = (tmp_path / "site" / "reference" / "commands.html").read_text()
    assert "import_benchmark" in commands


def anchors(page: str) -> set[str]:
    return set(re.findall(r'<h\d id="([^"]+)"', pages.page_html(page, "/docs/")))


def links(page: str) -> list[str]:
    """What a page links to and shows, as it is written."""
    tokens = MarkdownIt("commonmark").enable("table").parse(pages.source(page))
    inner = [one for token in tokens for one in token.children or []]
    written = (one.attrs.get("href") or one.attrs.get("src") for one in inner)
    return [str(link) for link in written if link]


def targets(page: str) -> list[tuple[str, str]]:
    """Where a page's links lead within docs/, and to which heading."""
    inside = [link for link in links(page) if not OUTSIDE.match(link)]
    split = [link.partition("#") for link in inside]
    folder = dirname(page)
    return [(normpath(join(folder, path)) if path else f"{page}.md", at) for path, _, at in split]


@pytest.mark.parametrize("document", pages.page_names())
def test_leads_to_what_there_is(document: str) -> None:
    for path, anchor in targets(document):
        assert (pages.FOLDER / path).is_file(), path
        if anchor:
            assert anchor in anchors(path.removesuffix(".md")), f"{path}#{anchor}"


@pytest.mark.parametrize("name", sorted(path.name for path in ROOT.glob("*.md")))
def test_documents_beside_it_lead_to_what_there_is(name: str) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", blocks.text(name)):
        path, _, anchor = link.partition("#")
        if OUTSIDE.match(link):
            continue
        assert (ROOT / path).exists(), link
        if anchor:
            page = path.removeprefix("docs/").removesuffix(".md")
            assert anchor in anchors(page), link


def test_every_page_is_shown_to_everybody(client: Client) -> None:
    for page in pages.page_names():
        address = pages.address(f"{page}.md")
        response = client.get(f"/docs/{address}")
        assert response.status_code == 200, address
        assert f"<title>{pages.title(page)}</title>".replace("’", "&#x27;") in (
            response.content.decode().replace("&#x27;", "’").replace("’", "&#x27;")
        )


def test_finds_the_sections_that_hold_the_words(client: Client) -> None:
    [first, *_] = search("Holm families")
    assert first["title"] == "The figures, and how they are computed"
    # A word of a heading leads there first, and where a section stands can be opened.
    [first, *_] = search("a large test set in parts")
    assert first["address"] == "how-to/planning/#a-large-test-set-in-parts"
    body = client.get("/docs/", {"q": "a large test set in parts"}).content.decode()
    assert f'href="/docs/{first["address"]}"' in body
    for one in search("bonus"):
        page, _, at = one["address"].partition("#")
        assert f'id="{at}"' in client.get(f"/docs/{page}").content.decode()
    assert search("backup zzz") == search("backup") != []
    assert search("zzz") == search(" ") == []
    nothing = client.get("/docs/", {"q": "<zzz>x" + "y" * 5000}).content.decode()
    assert "No section has any of these words" in nothing
    assert "<zzz>x" not in nothing


def test_a_page_shows_its_pictures_and_leads_on(client: Client) -> None:
    body = client.get("/docs/tutorial/").content.decode()
    pictures = re.findall(r'<img src="(/docs/screens/[^"]+)"', body)
    assert pictures
    for address in pictures:
        response = client.get(address)
        assert response.status_code == 200
        assert response["Content-Type"] == "image/png"
    assert client.get("/docs/explained/").status_code == 200
    assert 'href="/docs/how-to/prolific/"' in body


def test_keeps_the_pictures_that_a_page_shows_and_no_others() -> None:
    readers = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    texts = [page.read_text(encoding="utf-8") for page in readers]
    shown = {name for text in texts for name in re.findall(r"screens/([\w/.-]+\.png)", text)}
    listed = subprocess.run(
        ["git", "ls-files", "docs/screens"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode == 0:  # in a checkout; an archive of the sources holds what git does
        assert {name.removeprefix("docs/screens/") for name in listed.stdout.split()} == shown


@pytest.mark.parametrize(
    "address", ["nothing/", "../README/", "screens/../conf.py", "screens/nothing.png", "conf/"]
)
def test_shows_nothing_else(client: Client, address: str) -> None:
    assert client.get(f"/docs/{address}", follow=True).status_code == 404


def linked() -> list[tuple[str, str]]:
    templates = sorted((ROOT / "templates").rglob("*.html"))
    return [
        (file.relative_to(ROOT).as_posix(), page)
        for file in templates
        for page in re.findall(r"{% docs ['\"]([^'\"]+)['\"]", file.read_text(encoding="utf-8"))
    ]


def test_pages_lead_to_what_explains_their_words() -> None:
    of_page = dict(linked())
    for template in (
        "scoring/comparison/comparison.html",
        "scoring/comparison/correct_gold.html",
        "scoring/planning/plan.html",
        "scoring/planning/builder.html",
        "annotation/payments/payments.html",
        "annotation/prolific/prolific.html",
    ):
        assert f"templates/{template}" in of_page
    for template, page in linked():
        name, _, anchor = page.partition("#")
        assert name in pages.page_names(), f"{template}: {page}"
        assert not anchor or anchor in anchors(name), f"{template}: {page}"


def shown(page: str) -> str:
    return Template('{% load documentation %}{% docs "' + page + '" %}').render(Context())


def test_links_lead_to_the_site_where_one_is_named(settings: Settings) -> None:
    assert shown("explained/figures#s1") == "/docs/explained/figures/#s1"
    settings.DOCS_URL = "https://docs.example"
    assert shown("explained/figures#s1") == "https://docs.example/explained/figures.html#s1"
