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


def test_stacks_the_interval_beneath_the_figure_with_its_marks() -> None:
    figure = r"4.3\textsuperscript{\textdagger} \\ {}± 0.3 \\ {}[4.0, 4.5]"
    cell = rf"\begin{{tabular}}[t]{{@{{}}r@{{}}}}{figure}\end{{tabular}}"
    assert rf"Aber\_deen \& Co [pilot book] & quay & {cell} & 3.0 & 2 \\" in latex_table(TIDES)


def test_reads_no_bracket_as_the_spacing_of_a_line() -> None:
    assert r"{}[B|r*st] &  & 7.0 & -- & 0 \\" in latex_table(TIDES)


def test_rules_off_lines_of_another_kind() -> None:
    lines = latex_table(TIDES).splitlines()
    body = lines[lines.index(r"\midrule") + 1 :]
    assert body[1] == r"\midrule"
    assert r"\par\smallskip\footnotesize \textsuperscript{\textdagger} By ear \& eye." in body


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
