"""What `make test-all` says where it cannot bring what its tests need."""

import pytest

from tests import tools


@pytest.mark.parametrize(
    ("there", "sentence"),
    [
        ([], "There is no pdflatex with booktabs: install the packages"),
        (["find_pdflatex"], "could not be installed: is the package index reachable?"),
    ],
)
def test_says_in_one_sentence_what_is_missing(
    there: list[str], sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("find_pdflatex", "find_python"):
        monkeypatch.setattr(tools, name, lambda name=name: name in there)
    monkeypatch.setattr(tools, "_runs", lambda *_: False)
    with pytest.raises(SystemExit, match=sentence) as end:
        tools.main()
    assert "\n" not in str(end.value)


def test_asks_for_nothing_where_all_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("find_pdflatex", "find_python"):
        monkeypatch.setattr(tools, name, lambda: True)
    monkeypatch.setattr(tools, "_install_tex", lambda: pytest.fail("installs TeX"))
    monkeypatch.setattr(tools, "_runs", lambda *_: True)
    tools.main()
