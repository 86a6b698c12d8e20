import subprocess
from pathlib import Path

import pytest

from scoring.tables.documents import as_latex, escaped, latex_table
from tests import tools
from tests.scoring.tables.harbours import LOGBOOK, TIDES


def test_escapes_every_sign_that_latex_reads() -> None:
    assert escaped("50% & $5 #1 a_b {c} ~^\\") == (
        r"50\% \& \$5 \#1 a\_b \{c\} \textasciitilde{}\textasciicircum{}\textbackslash{}"
    )


def test_puts_heads_over_the_columns_that_they_span() -> None:
    text = latex_table(TIDES)
    assert r"\begin{tabular}{llrrr}" in text
    assert r" &  & \multicolumn{2}{c}{North} & \multicolumn{1}{c}{South} \\" in text
    assert r"\cmidrule(lr){3-4} \cmidrule(lr){5-5}" in text
    assert r"Harbour &  & Spring, m & Neap, m & Gauges \\" in text


def test_has_the_sd_beside_the_figure_and_the_interval_in_a_row_beneath() -> None:
    figure, beneath = latex_table(TIDES).partition("\\midrule\n")[2].splitlines()[:2]
    assert figure == (
        r"Aber\_deen \& Co & quay & 4.3 ± 0.3\textsuperscript{\textdagger} & 3.0 & 2 \\"
    )
    assert beneath == r"{\tiny pilot book} &  & {\tiny [4.0, 4.5]} &  &  \\"


def test_reads_no_bracket_as_the_spacing_of_a_line() -> None:
    assert r"{}[B|r*st] &  & 7.0 & -- & 0 \\" in latex_table(TIDES)


def test_rules_off_lines_of_another_kind() -> None:
    lines = latex_table(TIDES).splitlines()
    body = lines[lines.index(r"\midrule") + 1 :]
    assert body[2] == r"\midrule"
    assert r"{\scriptsize \textsuperscript{\textdagger} By ear \& eye.}" in body[-2]


def test_lets_a_long_table_run_over_pages() -> None:
    text = latex_table(LOGBOOK)
    assert r"\begin{longtable}{lrrl}" in text
    assert r"=SUM(A1) & 1.00 & \textless{} 0.001 & yes \\" in text
    assert r"\endhead" in text


@pytest.mark.system
def test_writes_latex_that_compiles(tmp_path: Path) -> None:
    body = as_latex([TIDES, LOGBOOK], comment="100 % original").replace("\x07", "")
    packages = r"\usepackage{booktabs,graphicx,longtable,textcomp}"
    document = rf"\documentclass{{article}}{packages}\begin{{document}}{body}\end{{document}}"
    (tmp_path / "t.tex").write_text(document)
    program = tools.find_pdflatex()
    assert program, "There is no pdflatex: run `make test-all`, which brings one."
    command = [program, "-halt-on-error", "-interaction=nonstopmode", "t.tex"]
    assert subprocess.run(command, cwd=tmp_path, check=False, capture_output=True).returncode == 0


def test_keeps_a_text_and_a_comment_in_one_line() -> None:
    assert escaped("a\n\nb\tc\x07\u202ed") == "a b cd"
    assert as_latex([], comment="made\n\\input{x}").splitlines()[2] == (
        r"% made \textbackslash{}input\{x\}"
    )
