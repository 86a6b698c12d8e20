import pytest

from annotation.kinds.markup import markdown_html


def test_shows_lists_paragraphs_and_emphasis() -> None:
    html = markdown_html("Read **all**.\n\n- one\n- two\n\nThen\nanswer.")
    assert "<strong>all</strong>" in html
    assert html.count("<li>") == 2
    assert "<p>Then<br />\nanswer.</p>" in html


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "a <b onclick=x()>b</b>",
        "[here](javascript:x)",
        "![seen](https://x/y.png)",
    ],
)
def test_lets_no_html_script_or_picture_through(text: str) -> None:
    html = markdown_html(text)
    for mark in ("<script", "<b", "<img", 'href="javascript'):
        assert mark not in html


def test_puts_headings_below_that_of_the_page() -> None:
    assert markdown_html("# Who\n###### Which") == "<h2>Who</h2>\n<h6>Which</h6>\n"


def test_leaves_the_signs_of_the_tasks_as_they_are() -> None:
    text = "“@placeholder” and do n't < 5 & more_than_one_word"
    assert (
        markdown_html(text) == "<p>“@placeholder” and do n't &lt; 5 &amp; more_than_one_word</p>\n"
    )
