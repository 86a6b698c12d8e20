"""Figures as files, and as SVG in a page. Bytes are deterministic: the same rows give the same
file.
"""

import re
from io import BytesIO

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.text import Text

from scoring.figures.canvas import INK
from scoring.tables.table import UNSEEN

# Text stays text, ids are stable, and no clock gets into a file.
mpl.rcParams["svg.fonttype"] = "none"
mpl.rcParams["svg.hashsalt"] = "scoring"
mpl.rcParams["pdf.fonttype"] = 42
# Names are no formulas: one that begins like a formula and is none could not be drawn.
mpl.rcParams["text.parse_math"] = False
NO_DATES = {
    "svg": {"Date": None},
    "pdf": {"CreationDate": None, "ModDate": None},
    "png": {"Software": None},
}


def rendered(figure: Figure, form: str) -> bytes:
    """The figure as svg, pdf or png."""
    for text in figure.findobj(Text):
        # A control character is not allowed in an SVG, and makes the whole file unreadable.
        text.set_text(UNSEEN.sub("", text.get_text()))
    out = BytesIO()
    figure.savefig(out, format=form, metadata=NO_DATES[form], dpi=200)
    return out.getvalue()


def inline_svg(figure: Figure, title: str) -> str:
    """An SVG that can stand in a page: no style attribute (the page's policy refuses those),
    and the ink is the page's own, so that it turns with the page's colours."""
    figure.set_facecolor("none")
    text = rendered(figure, "svg").decode()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r"<style[^>]*>.*?</style>", "", text, flags=re.DOTALL)
    text = re.sub(r'style="([^"]*)"', lambda match: _attributes(match[1]), text)
    text = text.replace(INK, "currentColor")
    name = f'role="img" aria-label="{_escaped(title)}"'
    return text.replace("<svg", f'<svg {name} stroke-linejoin="round"', 1)


def _attributes(style: str) -> str:
    """A style's declarations as attributes; the font shorthand has no attribute of its own."""
    pairs = [part.split(":", 1) for part in style.split(";") if ":" in part]
    attributes: dict[str, str] = {}
    for name, value in ((name.strip(), value.strip()) for name, value in pairs):
        if name == "font":
            size = re.search(r"([\d.]+)px", value)
            attributes["font-size"] = size[1] if size else "10"
        elif name != "font-family":
            attributes[name] = value
    return " ".join(f'{name}="{_escaped(value)}"' for name, value in attributes.items())


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
