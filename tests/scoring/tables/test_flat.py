import csv
import json
from io import StringIO

from scoring.tables.documents import as_csv, as_json
from tests.scoring.tables.harbours import LOGBOOK, TIDES


def test_writes_every_value_to_csv_and_formulas_as_texts() -> None:
    first, second, last = csv.DictReader(StringIO(as_csv(LOGBOOK)))
    assert first == {"ship": "'=SUM(A1)", "depth": "1.005", "p": "0.0004", "docked": "True"}
    assert second["ship"] == 'a,"b"\nc\x07'
    assert set(last.values()) == {""}


def test_writes_the_bare_values_to_json_by_the_tables_names() -> None:
    document = json.loads(as_json([TIDES, LOGBOOK], {"year": 2026}))
    assert list(document) == ["year", "tides", "logbook"]
    assert document["tides"] == TIDES.records
    assert document["logbook"][2] == {"ship": None, "depth": None, "p": None, "docked": None}


def test_keeps_the_columns_in_their_order() -> None:
    assert as_csv(TIDES).splitlines()[0] == "harbour,spring,neap,gauges"
    assert list(json.loads(as_json([TIDES]))["tides"][0]) == TIDES.keys
