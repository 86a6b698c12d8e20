from scoring.tables.documents import as_text
from tests.scoring.tables.harbours import LOGBOOK, TIDES


def test_sets_texts_to_the_left_and_numbers_to_the_right() -> None:
    assert as_text(TIDES).splitlines() == [
        "Tides. Heights over the chart's zero.",
        "",
        "Harbour                                        Spring, m  Neap, m  Gauges",
        "---------------------------  ----  ---------------------  -------  ------",
        "Aber_deen & Co [pilot book]  quay  4.3 ± 0.3 [4.0, 4.5]†      3.0       2",
        "---------------------------  ----  ---------------------  -------  ------",
        "[B|r*st]                                             7.0        –       0",
    ]


def test_keeps_every_line_on_one_line() -> None:
    assert [line.split() for line in as_text(LOGBOOK).splitlines()[4:]] == [
        ["=SUM(A1)", "1.00", "<", "0.001", "yes"],
        ['a,"b"', "c", "3", "0.021", "no"],
        ["–", "–"],
    ]


def test_breaks_the_caption() -> None:
    assert max(map(len, as_text(TIDES, width=20).splitlines()[:2])) <= 20
