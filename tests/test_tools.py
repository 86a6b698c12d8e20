"""What `make test-all` says where it cannot bring what its tests need."""

import pytest

from tests import tools

FOUND = ("find_pdflatex", "find_firefox", "find_python", "find_models")


@pytest.mark.parametrize(
    ("there", "sentence"),
    [
        ([], "There is no pdflatex with booktabs: install the packages"),
        (["find_pdflatex"], "There is no Firefox: install the package firefox-esr."),
        (
            ["find_pdflatex", "find_firefox"],
            "requirements-real-models.txt list could",
        ),
        (
            ["find_pdflatex", "find_firefox", "find_models"],
            "requirements-tools.txt could not be installed: is the package index reachable",
        ),
    ],
)
def test_says_in_one_sentence_what_is_missing(
    there: list[str], sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in FOUND:
        monkeypatch.setattr(tools, name, lambda name=name: name in there)
    monkeypatch.setattr(tools, "_runs", lambda *_: False)
    with pytest.raises(SystemExit, match=sentence) as end:
        tools.main()
    assert "\n" not in str(end.value)


def test_asks_for_nothing_where_all_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in FOUND:
        monkeypatch.setattr(tools, name, lambda: True)
    monkeypatch.setattr(tools.shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(tools, "_install_from_debian", lambda *_: pytest.fail("installs"))
    monkeypatch.setattr(tools, "_runs", lambda *_: True)
    tools.main()
