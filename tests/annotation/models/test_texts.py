"""Texts in CSV: a spreadsheet computes none of them, and each can be read back."""

import pytest

from scoring.tables.documents import as_cell, from_cell

FORMULAS = ["=1+1", "@SUM(A1)", "+1", "-1+cmd|' /C calc'!A0", "\t=1", "\r=1", "'=1", "'", "''=1"]


@pytest.mark.parametrize("text", FORMULAS)
def test_marks_what_a_spreadsheet_would_compute(text: str) -> None:
    assert as_cell(text) == f"'{text}"


@pytest.mark.parametrize("text", [*FORMULAS, "", "plain", "a=b", "O'Neill", "5-shot"])
def test_can_be_read_back(text: str) -> None:
    assert from_cell(str(as_cell(text))) == text


@pytest.mark.parametrize("value", [-1, -0.5, 3, None, True])
def test_leaves_numbers_alone(value: object) -> None:
    assert as_cell(value) is value
