"""Texts that are more than plain: Markdown and mathematics, where a task says so."""

import json
import re
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from annotation.benchmarks.formats.task_files import read_task_file
from annotation.benchmarks.importing import import_benchmark
from annotation.kinds import markup
from annotation.kinds.markup import in_blocks, in_line, mathml, rendered, unreadable
from annotation.models import Benchmark, Task
from annotation.models.errors import BadInput
from annotation.studies.lifecycle import start_study
from tests import make

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("formula", "made"),
    [
        (r"\frac{1}{2}", "<mfrac>"),
        ("H_2SO_4", "<msub><mi>H</mi><mn>2</mn></msub>"),
        (r"\begin{pmatrix}1&2\\3&4\end{pmatrix}", "<mtr><mtd><mn>1</mn></mtd>"),
        (r"\sum_{i=1}^n i^2 \le \infty", "&#x02264;"),
        (r"\left( \frac a b \right)", 'fence="true"'),
        (r"5 \, \mathrm{cm}", "<mspace"),
        ("x < y", "&#x0003C;"),
    ],
)
def test_makes_mathml(formula: str, made: str) -> None:
    assert made in mathml(formula)
    assert 'display="block"' in mathml(formula, display=True)


@pytest.mark.parametrize(
    "formula",
    [
        r"\foo x",
        r"\ce{H2O}",
        r"\text{<script>alert(1)</script>}",
        r"\text{<img src=x onerror=alert(1)>}",
        r"\href{javascript:alert(1)}{x}",
        r"\color{red}x",
        r"\style{background:url(https://example.org)}{x}",
        r"\frac{1",
        "{" * 400 + "x" + "}" * 400,
        r"\frac" * 200,
        "x" * 2_001,
        r"\left(" * 60,
    ],
)
def test_shows_what_cannot_be_read_as_it_was_written(formula: str) -> None:
    assert mathml(formula) == ""
    html = in_blocks(f"What is ${formula}$ here?")
    assert "<math" not in html
    assert not re.search(r"<(script|img|a)\b|style=|onerror=(?!alert\(1\)&gt;)", html)


def test_reads_dollars_of_amounts_as_dollars() -> None:
    for text in ("It costs $5 and then $10.", r"She has \$3, he has \$4."):
        assert "<math" not in in_blocks(text)
    assert in_line("It costs $x$.", "none") == "It costs $x$."
    assert "<math" in in_line("It costs $x$.", "markdown")


def test_shows_tables_code_and_lists_but_no_html_and_no_pictures() -> None:
    html = in_blocks("# Data\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```\nx = 1 < 2\n```\n\n- one")
    for part in ("<h2>Data</h2>", "<td>1</td>", "x = 1 &lt; 2", "<li>one</li>"):
        assert part in html
    attack = rendered("<script>alert(1)</script> ![p](https://example.org/p.png) [a](javascript:b)")
    assert "<script" not in attack
    assert "<img" not in attack
    assert "javascript:b" not in re.findall(r'href="([^"]*)"', attack)


def test_finds_the_formulas_that_it_cannot_read() -> None:
    assert unreadable(r"$x$ and $\foo$, $$\bar{y}$$ and `$\baz$`") == [r"\foo"]


def folder_of(folder: Path, **about: object) -> Path:
    (folder / "Sums").mkdir(parents=True)
    rows = [
        {
            "id": f"s{number}",
            "context": f"Let $x = {number}$. See **below**:\n\n| $x$ | $y$ |\n|---|---|\n| 1 | 1 |",
            "question": r"What is $\frac{x}{2}$?",
            "choices": [f"${number}$", r"$\foo$"],
            "answer": 0,
        }
        for number in range(3)
    ]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "Sums" / "sums_test.jsonl").write_text(text, encoding="utf-8")
    given = {"description": "Compute, as in $x^2$.", "markup": "markdown", **about}
    (folder / "Sums" / "task.json").write_text(json.dumps(given), encoding="utf-8")
    return folder


@pytest.mark.django_db
def test_is_shown_to_annotators_and_audited(tmp_path: Path, client: Client) -> None:
    import_benchmark(folder_of(tmp_path), name="sums")
    task = Task.objects.get(slug="sums")
    [finding] = [one for one in task.audit if one["code"] == "unreadable_mathematics"]
    assert finding["figures"] == {"count": 3}
    study = make.study(Benchmark.objects.get(name="sums"))
    batch = make.batch(study, task, zero_shot=True)
    start_study(study, at=make.NOON)
    client.get(reverse("annotation:join_batch", args=[batch.join_token]), follow=True)
    page = client.post("/work/consent/", {"agree": "1"}, follow=True).content.decode()
    assert "<msup><mi>x</mi><mn>2</mn></msup>" in page
    page = client.post("/work/begin/", follow=True).content.decode()
    for part in ("<mfrac>", "<strong>below</strong>", "<table>", r"<code>\foo</code>"):
        assert part in page


@pytest.mark.django_db
def test_is_refused_where_words_of_a_text_are_chosen(tmp_path: Path) -> None:
    row = {"id": "a", "context": "Ada met Bo.", "question": "Who?", "answer": ["Ada"]}
    (tmp_path / "Names").mkdir()
    (tmp_path / "Names" / "names_test.jsonl").write_text(json.dumps(row), encoding="utf-8")
    about = json.dumps({"kind": "spans", "markup": "markdown"})
    (tmp_path / "Names" / "task.json").write_text(about, encoding="utf-8")
    with pytest.raises(BadInput, match="it stays plain"):
        import_benchmark(tmp_path, name="names")
    with pytest.raises(BadInput, match="must be none or markdown"):
        read_task_file(b'{"markup": "html"}', "task.json")


def test_shows_a_formula_as_the_import_made_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import_benchmark(folder_of(tmp_path), name="sums")
    made = in_blocks("$x = 2$ and $z$")
    monkeypatch.setattr(markup, "convert", lambda formula, display: "<math><mi>new</mi></math>")
    for cache in (markup._kept, markup.mathml, markup.in_blocks):
        cache.cache_clear()
    again = in_blocks("$x = 2$ and $z$")
    assert again.partition(" and ")[0] == made.partition(" and ")[0]
    # In no text that was imported.
    assert "<mi>new</mi>" in again.partition(" and ")[2]
    for cache in (markup._kept, markup.mathml, markup.in_blocks):
        cache.cache_clear()


def test_takes_double_dollars_within_a_line() -> None:
    html = in_blocks("Evaluate $$x^2$$ now.")
    assert html.count("<math") == 1
    assert "$" not in html
    assert "<math" in in_line("$$x^2$$", "markdown")


def test_leads_nowhere_and_styles_nothing_itself() -> None:
    html = in_blocks("[here](https://example.org) <https://example.org>\n\n| a |\n|---:|\n| 1 |")
    assert "<a" not in html
    assert "here" in html
    assert "style=" not in html
    assert 'class="text-align-right"' in html
