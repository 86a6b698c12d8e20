"""What is installed may be used as it is used here: every package states a licence, and one that
this project may build on.

It looks at what is installed: the requirements, what the tests need, and after `make test-all` what
tunes models too.
"""

import re
from collections.abc import Collection, Iterable
from importlib.metadata import Distribution, PackageMetadata, distributions

import pytest
from django.conf import settings

# Whoever passes these on must name the authors, and no more.
PERMISSIVE = {
    *("0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0", "CC0-1.0", "CNRI-Python"),
    *("ISC", "MIT", "MIT-CMU", "PSF-2.0", "Unlicense", "Zlib"),
    "Apache-2.0 WITH LLVM-exception",
}
# Whoever changes the package itself must publish the change; ours only imports it.
OF_THE_PACKAGE = {"LGPL-3.0-only", "MPL-2.0"}
# Programs that are run beside the work and never passed on with it.
PROGRAMS = {"djlint": "GPL-3.0-or-later"}
# What a package says by its files alone, or by words that are no licence's.
SAYS_ELSEWHERE = {
    "agent-client-protocol": "Apache-2.0",
    "atheris": "Apache-2.0",
    "axe-playwright-python": "MIT",
    "docutils": "BSD-2-Clause",  # the rest is in the public domain; one file for Emacs is GPL
    "matplotlib": "PSF-2.0",  # a licence of its own, with the terms of Python's
    "text-unidecode": "Artistic-1.0",  # or the GPL, as one likes; python-slugify's, a test's
}
OF_TESTS = {"text-unidecode": "Artistic-1.0"}
# The words of older packages, without signs and in small letters.
WORDS = {
    "apache": "Apache-2.0",
    "apache 2 0": "Apache-2.0",
    "apache license": "Apache-2.0",
    "apache license 2 0": "Apache-2.0",
    "apache 2 0 license": "Apache-2.0",
    "apache software license": "Apache-2.0",
    "bsd": "BSD-3-Clause",
    "bsd license": "BSD-3-Clause",
    "new bsd": "BSD-3-Clause",
    "bsd 3 clause license": "BSD-3-Clause",
    "isc license": "ISC",
    "isc license iscl": "ISC",
    "mit license": "MIT",
    "mozilla public license 2 0 mpl 2 0": "MPL-2.0",
    "python software foundation license": "PSF-2.0",
    "the unlicense unlicense": "Unlicense",
}
NONE = "no licence"


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def installed() -> dict[str, Distribution]:
    return {normal(found.name): found for found in distributions()}


def pinned(*files: str) -> set[str]:
    """The packages of requirements, by their names."""
    text = "\n".join((settings.BASE_DIR / file).read_text() for file in files)
    return {normal(name) for name in re.findall(r"^([\w.-]+)(?:\[\w+\])?==", text, re.MULTILINE)}


def licence_of(package: Distribution) -> str:
    """As an expression of SPDX: what it says so itself, else its classifiers, else its words."""
    said = package.metadata
    expression = SAYS_ELSEWHERE.get(normal(package.name)) or _only(said, "License-Expression")
    if expression:
        return expression
    classified = [
        entry.rpartition(" :: ")[2]
        for entry in said.get_all("Classifier") or []
        if entry.startswith("License :: ") and not entry.endswith(":: OSI Approved")
    ]
    # Several are for several parts, as far as anybody knows.
    return " AND ".join(map(_named, classified)) or _from_words(_only(said, "License"))


def _only(said: PackageMetadata, name: str) -> str:
    return (said.get_all(name) or [""])[0]


def _from_words(words: str) -> str:
    first = words.strip().partition("\n")[0]
    parts = re.split(r" (AND|OR) ", first)
    return " ".join(p if p in ("AND", "OR") else _named(p) for p in parts) if first else NONE


def _named(words: str) -> str:
    known = {normal(name): name for name in PERMISSIVE | OF_THE_PACKAGE}
    plain = re.sub(r"\W+", " ", words).strip().lower()
    return known.get(normal(words)) or WORDS.get(plain, words)


def is_allowed(expression: str, allowed: Collection[str]) -> bool:
    """All of what stands between AND, one of what stands between OR. Brackets are not read: such a
    licence has to be looked at."""
    return all(
        any(choice in allowed for choice in part.split(" OR "))
        for part in expression.split(" AND ")
    )


def not_allowed(names: Iterable[str], allowed: Collection[str]) -> dict[str, str]:
    there = installed()
    licences = {name: licence_of(there[name]) for name in sorted(set(names) & there.keys())}
    return {name: said for name, said in licences.items() if not is_allowed(said, allowed)}


def test_what_is_passed_on_with_the_image_may_be() -> None:
    shipped = pinned("requirements.lock")
    assert len(shipped & installed().keys()) > 40
    assert not_allowed(shipped, PERMISSIVE | OF_THE_PACKAGE) == {}


def test_what_is_installed_besides_may_be_used() -> None:
    besides = not_allowed(installed(), PERMISSIVE | OF_THE_PACKAGE)
    assert besides == {
        name: licence for name, licence in {**PROGRAMS, **OF_TESTS}.items() if name in installed()
    }
    models = ("requirements-asking.txt", "requirements-models.txt")
    assert not besides.keys() & pinned("requirements.lock", *models)


def test_knows_the_licences_of_packages_of_every_age() -> None:
    there = installed()
    names = ("django", "psycopg", "numpy", "celery", "segno", "xlsxwriter", "certifi", "matplotlib")
    assert {name: licence_of(there[name]) for name in names} == {
        "django": "BSD-3-Clause",
        "psycopg": "LGPL-3.0-only",
        "numpy": "BSD-3-Clause AND 0BSD AND MIT AND Zlib AND CC0-1.0",
        "celery": "BSD-3-Clause",
        "segno": "BSD-3-Clause",
        "xlsxwriter": "BSD-2-Clause",
        "certifi": "MPL-2.0",
        "matplotlib": "PSF-2.0",
    }


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("MIT", True),
        ("MIT AND PSF-2.0", True),
        ("GPL-3.0-only OR MIT", True),
        ("MIT AND GPL-3.0-only", False),
        ("GPL-3.0-only OR AGPL-3.0-only", False),
        ("(MIT OR GPL-3.0-only)", False),
        ("all rights reserved", False),
        (NONE, False),
        ("", False),
    ],
)
def test_weighs_a_licence_of_several_parts(expression: str, expected: bool) -> None:
    assert is_allowed(expression, PERMISSIVE) is expected
