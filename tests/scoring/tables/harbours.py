"""A table for tests that has nothing to do with comparisons: tides of harbours."""

from scoring.tables.table import Cell, Column, Group, Line, Table

NORTH, SOUTH = Group("North"), Group("South", href="/south/")
TIDES = Table(
    "tides",
    "Tides",
    "Heights over the chart's zero.",
    (
        Column("harbour", "Harbour", "Where it was measured.", is_number=False, is_name=True),
        Column("spring", "Spring", "At full moon.", unit="m", digits=1, group=NORTH),
        Column("neap", "Neap", "At half moon.", unit="m", digits=1, group=NORTH),
        Column("gauges", "Gauges", group=SOUTH),
    ),
    (
        Line(
            {
                "harbour": Cell("Aber_deen & Co", aside="quay", note="pilot book"),
                "spring": Cell(4.26, sd=0.31, low=4.0, high=4.5, marks="†"),
                "neap": 3.04,
                "gauges": Cell(2, beneath=("one of them new",)),
            },
            kind="measured",
        ),
        Line({"harbour": "[B|r*st]", "spring": 7.0, "gauges": 0}, kind="told"),
    ),
    marks={"†": "By ear & eye.", "‡": "Never used."},
    is_short=True,
)
# The same without heads over several columns, over as many pages as it takes.
LOGBOOK = Table(
    "logbook",
    "Logbook",
    "",
    (
        Column("ship", "Ship", is_number=False),
        Column("depth", "Depth", digits=2),
        Column("p", "p", digits=3, least=0.001),
        Column("docked", "Docked", is_number=False),
    ),
    (
        Line({"ship": "=SUM(A1)", "depth": 1.005, "p": 0.0004, "docked": True}),
        Line({"ship": 'a,"b"\nc\x07', "depth": 3, "p": 0.0213, "docked": False}),
        Line({"ship": None}),
    ),
)
