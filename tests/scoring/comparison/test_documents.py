import csv
import json
import re
import subprocess
from dataclasses import fields, replace
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import pytest
from openpyxl import load_workbook

from scoring.cells.rows import BY_KEY, COLUMNS, CONSENSUS, Row, RowKind
from scoring.cells.scope import NOT_CLOSED
from scoring.comparison.comparison import Comparison
from scoring.comparison.documents import FORMATS, paper_tables
from scoring.comparison.row_tables import interval_table
from tests import tools
from tests.every import every

INTERIM = {"pilot_1": NOT_CLOSED}
CELL = Row(
    kind=RowKind.HUMAN,
    study="pilot_1",
    system="Human",
    task="sst2",
    shots=10,
    mean=79.84126984,
    sd=1.2,
    n=3,
    m=210,
    ci_low=70.0,
    ci_high=87.0,
    ci_method="wilson",
    estimand="new_items",
    references="any",
    gold_version=1,
    coverage=1.0,
    median_item_s=9.5,
)
PERSON = Row(
    kind=RowKind.ANNOTATOR,
    study="pilot_1",
    system="BCDF2345",
    task="sst2",
    shots=10,
    split=1,
    median_item_s=12.34,
    mean=80.0,
    sd=40.1,
    n=210,
    references="any",
    gold_version=1,
    coverage=1.0,
    single=True,
)
RUN = Row(
    kind=RowKind.RUN,
    system='=HYPERLINK("x")',
    method="FT",
    task="sst2",
    shots=10,
    mean=46.2,
    sd=5.6,
    n=5,
    references="any",
    gold_version=1,
    coverage=0.5,
)
PUBLISHED = Row(
    kind=RowKind.REPORTED,
    system="GPT-3",
    method="ICL",
    task="sst2",
    shots="all",
    mean=98.1,
    references="unknown",
    source="CLUES Table 6",
)
KEYS = tuple(BY_KEY)
TABLE = Comparison((CELL, PERSON, RUN, PUBLISHED), benchmark="clues", study="pilot_1")


def written(name: str) -> bytes:
    return FORMATS[name].write(TABLE)


def test_writes_json_with_exactly_the_agreed_keys() -> None:
    document = json.loads(written("json"))
    assert list(document) == [
        *("benchmark", "references", "interim", "note", "rows", "verdicts", "versions")
    ]
    assert (document["benchmark"], document["references"]) == ("clues", "any")
    assert every(tuple(row) == KEYS for row in document["rows"])
    assert document["rows"][0]["mean"] == 79.84126984
    assert document["rows"][3]["shots"] == "all"
    assert document["rows"][3]["sd"] is None


def test_names_the_agreed_columns_in_their_order() -> None:
    names = (
        "kind study system method task shots split mean sd n m ci_low ci_high ci_method estimand "
        "references gold_version coverage median_item_s normalisation "
        "shot_sets without_low without_high flagged notes pool group matched"
    )
    assert " ".join(KEYS) == names


def test_writes_csv_with_the_same_columns_and_unrounded_figures() -> None:
    rows = list(csv.DictReader(StringIO(written("csv").decode())))
    assert tuple(rows[0])[: len(KEYS)] == KEYS
    assert float(rows[0]["mean"]) == CELL.mean
    assert rows[3]["sd"] == ""
    assert [row["kind"] for row in rows] == ["human", "annotator", "run", "reported"]


def test_writes_a_workbook_with_numbers_as_numbers_and_texts_as_texts() -> None:
    book = load_workbook(BytesIO(written("xlsx")))
    rows = list(book["comparison"].iter_rows())
    assert tuple(cell.value for cell in rows[0]) == KEYS
    mean, system = KEYS.index("mean"), KEYS.index("system")
    assert rows[1][mean].value == CELL.mean
    assert rows[1][mean].data_type == "n"
    assert (rows[3][system].value, rows[3][system].data_type) == (RUN.system, "s")
    assert rows[4][KEYS.index("shots")].value == "all"


def test_says_of_every_interval_what_it_is() -> None:
    [line] = interval_table([CELL, PERSON, RUN, PUBLISHED], {"pilot_1": "The pilot"}).read
    assert {str(part.column.heading): part.text for part in line.cells} == {
        "Who": "Human, The pilot",
        "Task": "sst2",
        "Shots": "10",
        "Mean": "79.8",
        "Interval (95 %)": "[70.0, 87.0]",
        "For": "new items",
        "Method": "wilson",
        "n": "3",
        "m": "210",
        "References": "any",
        "Gold version": "1",
        "Shot sets": "",
        "Without one": "–",
        "Flagged": "–",
        "Notes": "",
    }
    assert "wilson" in written("markdown").decode()


def test_has_the_time_of_people_in_every_format() -> None:
    rows = json.loads(written("json"))["rows"]
    assert [row["median_item_s"] for row in rows] == [9.5, 12.34, None, None]
    assert [row["median_item_s"] for row in csv.DictReader(StringIO(written("csv").decode()))] == [
        "9.5",
        "12.34",
        "",
        "",
    ]
    markdown = written("markdown").decode()
    assert "| Items | References | Median time, s per item |" in markdown
    assert "| 210 | any | 12.3 |" in markdown
    of_cell = "| People | sst2 | 10 | 9.5 |"
    assert of_cell in markdown
    assert of_cell.strip("| ").replace(" |", " &") in written("latex-appendix").decode()
    book = load_workbook(BytesIO(written("xlsx")))
    assert book["comparison"].cell(3, KEYS.index("median_item_s") + 1).value == 12.34
    assert 9.5 in [cell.value for row in book["Times"] for cell in row]
    explained: Any = book["columns"].iter_rows(min_row=2, values_only=True)
    meanings = dict(explained)
    assert "by the server's clock" in meanings["median_item_s"]


def test_explains_every_column_in_the_workbook() -> None:
    book = load_workbook(BytesIO(written("xlsx")))
    explained = [row[0].value for row in book["columns"].iter_rows(min_row=2)]
    assert tuple(explained[:-1]) == KEYS
    assert every(column.meaning for column in COLUMNS)


def test_has_a_field_for_every_column_in_its_order() -> None:
    assert tuple(field.name for field in fields(Row))[: len(KEYS)] == KEYS


@pytest.mark.parametrize("name", ["latex", "markdown", "xlsx"])
def test_tells_what_the_figures_rest_on(name: str) -> None:
    table = replace(TABLE, fingerprint="0123456789abcdef")
    document = FORMATS[name].write(table)
    if name == "xlsx":
        cells = load_workbook(BytesIO(document))["columns"].iter_rows(values_only=True)
        document = "".join(str(meaning) for _, meaning in cells).encode()
    assert f"Inputs 0123456789ab, seed {TABLE.choices.seed}, scorer version" in document.decode()


@pytest.mark.parametrize("title", ["How well do people?", "Go on!", "Done.", "And so on…"])
def test_adds_no_stop_to_a_title_that_ends_with_one(title: str) -> None:
    table = replace(TABLE, study=None, interim=INTERIM, titles={"pilot_1": title})
    assert table.warning == f"Interim, not closed: {title}"


@pytest.mark.parametrize(("name", "tables"), [("latex", 1), ("latex-appendix", 2), ("markdown", 3)])
def test_says_under_every_table_of_scores_what_it_holds(name: str, tables: int) -> None:
    corrected = replace(RUN, task="squad", gold_version=2)
    table = replace(
        TABLE,
        rows=(replace(CELL, ci_method="guard"), PERSON, corrected),
        task_names={"squad": "SQuAD"},
        interim=INTERIM,
    )
    text = FORMATS[name].write(table).decode().replace("\\", "")
    assert text.count("S1 in percent") == tables
    told = "of two people the guard band. n people, m items. Interim, not closed."
    assert text.count(told) == tables
    assert "gold version 1 (sst2); 2 (SQuAD)." in text


def test_writes_a_workbook_even_of_a_text_with_a_control_character() -> None:
    table = Comparison((Row(kind=RowKind.RUN, system="a\x07b"),), benchmark="clues")
    book = load_workbook(BytesIO(FORMATS["xlsx"].write(table)))
    assert book["comparison"].cell(2, 3).value == "a�b"


def test_writes_markdown_with_people_systems_and_every_annotator() -> None:
    text = written("markdown").decode()
    assert "| People | n = 3 | 79.8 ± 1.2 \\[70.0, 87.0] |" in text
    assert "| People | 10 shots | 79.8 ± 1.2 \\[70.0, 87.0]; n = 3, m = 210 |" in text
    assert "46.2 ± 5.6§" in text
    assert "98.1†" in text
    assert "CLUES Table 6" in text
    assert "| pilot\\_1 | BCDF2345 | sst2 | 10 | 1 | 80.0 | 40.1 | 210 |" in text


def test_keeps_a_name_from_breaking_a_markdown_table() -> None:
    table = Comparison((Row(kind=RowKind.RUN, system="a|b\nc", task="t"),), benchmark="c")
    assert "| a\\|b c |" in FORMATS["markdown"].write(table).decode()


def test_writes_latex_with_booktabs_and_escaped_names() -> None:
    assert r"People and systems at 10 shots in “pilot\_1”." in written("latex").decode()
    text = written("latex-appendix").decode()
    assert r"\toprule" in text
    lines = [r"People & 10 shots & 79.8 ± 1.2 \\", r" &  & {\tiny [70.0, 87.0]} \\"]
    assert "\n".join([*lines, r" &  & {\tiny n = 3, m = 210} \\"]) in text
    assert r"\multicolumn{2}{c}{sst2}" in text
    assert r"annotator 1 & 80.0 ± 40.1 \\" in text
    assert "longtable}" not in text, "which two columns do not allow"


def wide_table() -> Comparison:
    """As many tasks, shots and annotators as a paper has."""
    tasks, shots = ("sst2", "mnli", "conll03", "wikiann", "squadv2", "record"), (0, 10, 20, 30)
    columns: list[dict[str, Any]] = [
        {"task": task, "shots": number} for task in tasks for number in shots
    ]
    rows = [replace(CELL, **column, sd=10.0) for column in columns]
    rows += [replace(PERSON, **column) for column in columns for _ in range(10)]
    run = replace(RUN, system="A system_with & a long name", ci_low=10.0, ci_high=100.0, m=200)
    rows += [replace(run, **column) for column in columns]
    rows += [replace(run, task=task, shots="all") for task in tasks]
    return replace(TABLE, rows=tuple(rows))


def paper_of(tasks: int) -> Comparison:
    """People, and three systems with long names, at one number of shots."""
    slugs = [f"task{number}" for number in range(tasks)]
    names = ("SmolLM2-135M-Instruct, by likelihood", "A system_with & a long name", "BERT")
    run = replace(RUN, sd=10.0, ci_low=10.0, ci_high=100.0, m=200, coverage=1.0)
    rows = [replace(CELL, task=slug, sd=10.0) for slug in slugs]
    rows += [replace(run, task=slug, system=name) for slug in slugs for name in names]
    return replace(TABLE, rows=tuple(rows))


def test_has_the_tables_of_a_paper() -> None:
    names = [table.name for table in paper_tables(wide_table())]
    assert names == [
        "overview",
        *["people"] * 4,
        *["systems"] * 6,
        *["supervision"] * 2,
        "times",
    ]
    people = paper_tables(wide_table())[1]
    assert len(people.lines) == 1 + 10


def test_heads_and_formats_the_sheets_that_are_read() -> None:
    book = load_workbook(BytesIO(written("xlsx")))
    assert book.sheetnames[:3] == ["Overview", "People", "Systems"]
    sheet = book["People"]
    texts = [[cell.value for cell in row] for row in sheet.iter_rows(max_row=7)]
    assert texts[0][0] == "People"
    assert texts[3][2] == "sst2"
    assert texts[4] == ["Who", None, "mean", "SD", "95 % low", "95 % high", "rests on"]
    assert texts[5][2:7] == [CELL.mean, 1.2, 70.0, 87.0, "n = 3, m = 210"]
    assert sheet.cell(6, 3).number_format == "0.0"
    assert texts[6][1:3] == ["annotator 1", 80.0]


def test_says_of_whom_every_sd_and_interval_is() -> None:
    together = replace(CELL, kind=RowKind.CONSENSUS, system=CONSENSUS, ci_method="bootstrap")
    main, people, *_ = paper_tables(replace(TABLE, consensus=(together,)))
    assert "bootstrap" not in main.remark
    assert "single annotators" not in main.remark
    assert "Wilson; of the consensus a bootstrap over contexts." in people.remark
    assert "people: over annotators; single annotators: over items; systems: over runs." in (
        people.remark
    )


@pytest.mark.parametrize(
    ("tasks", "panels"), [(1, ["lr"]), (4, ["lrrrrr"]), (6, ["lrrrrrrr"]), (9, ["lrrrrr"] * 2)]
)
def test_has_the_tasks_that_a_page_holds_in_one_tabular(tasks: int, panels: list[str]) -> None:
    text = FORMATS["latex"].write(paper_of(tasks)).decode()
    assert re.findall(r"\\begin{tabular}(?:\[t\])?{(.*?)}\n", text) == panels
    assert text.count(r"\caption{") == 1
    assert (r"\begin{table*}" in text) == (tasks > 1)
    assert every(text.count(f"& task{number} ") == 1 for number in range(tasks))
    assert "People & " in text
    assert "& {\\tiny [70.0, 87.0]}" in text


def test_names_a_study_once_in_a_caption_of_two_sentences() -> None:
    title = "Are people ahead?"
    table = replace(TABLE, interim=INTERIM, titles={"pilot_1": title})
    assert paper_tables(table)[0].caption == (
        f"People and systems at 10 shots in “{title}”. "
        "S1 in percent (references any) ± SD with its 95 % interval."
    )
    assert title not in paper_tables(table)[0].remark


@pytest.mark.system
@pytest.mark.parametrize(
    "table",
    [TABLE, wide_table(), *map(paper_of, (1, 4, 6, 9))],
    ids=["small", "wide", "one", "four", "six", "nine"],
)
@pytest.mark.parametrize("columns", ["onecolumn", "twocolumn"])
@pytest.mark.parametrize("form", ["latex", "latex-appendix"])
def test_writes_latex_that_compiles(
    tmp_path: Path, form: str, columns: str, table: Comparison
) -> None:
    body = FORMATS[form].write(table).decode()
    packages = (
        r"\usepackage{booktabs,graphicx,longtable,textcomp}\usepackage[width=505pt]{geometry}"
    )
    head = rf"\documentclass[{columns}]{{article}}{packages}"
    document = rf"{head}\begin{{document}}{body}\end{{document}}"
    (tmp_path / "t.tex").write_text(document)
    program = tools.find_pdflatex()
    assert program, "There is no pdflatex: run `make test-all`, which brings one."
    command = [program, "-halt-on-error", "-interaction=nonstopmode", "t.tex"]
    done = subprocess.run(command, cwd=tmp_path, check=False, capture_output=True)
    assert done.returncode == 0
    assert "Overfull \\hbox" not in done.stdout.decode(errors="replace")


def test_writes_a_comparison_without_rows_in_every_format() -> None:
    empty = Comparison((), benchmark="clues")
    assert every(form.write(empty) for form in FORMATS.values())
    assert json.loads(FORMATS["json"].write(empty))["references"] is None
