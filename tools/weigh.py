"""What the product weighs, room by room, without migrations: lines, modules, dataclasses, and the
longest chain of imports between its modules.

    python tools/weigh.py [FOLDER]     of another work tree, if one is named
"""

import ast
import subprocess
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

PARTS = ("annotation", "scoring", "config")


def main(root: Path) -> None:
    listed = ["git", "ls-files", *(f"{part}/*.py" for part in PARTS)]
    names = subprocess.run(listed, cwd=root, capture_output=True, text=True, check=True).stdout
    paths = [name for name in names.split() if "/migrations/" not in name]
    sources = {name: (root / name).read_text(encoding="utf-8") for name in paths}
    rooms: dict[str, list[str]] = {}
    for name in paths:
        rooms.setdefault("/".join(name.split("/")[:2][: name.count("/")]), []).append(name)
    print(f"{'room':32}{'lines':>8}{'modules':>9}{'dataclasses':>13}")
    for room, members in [*sorted(rooms.items()), ("all", paths)]:
        texts = [sources[name] for name in members]
        lines = sum(text.count("\n") for text in texts)
        dataclasses = sum(map(dataclasses_in, texts))
        print(f"{room:32}{lines:8}{len(members):9}{dataclasses:13}")
    chain = longest_chain(sources)
    print(f"\nThe longest chain of imports, {len(chain)} modules:\n  " + "\n  ".join(chain))


def dataclasses_in(text: str) -> int:
    return sum(
        "dataclass" in ast.unparse(decorator)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ClassDef)
        for decorator in node.decorator_list
    )


def longest_chain(sources: dict[str, str]) -> list[str]:
    modules = {name.removesuffix(".py").removesuffix("/__init__").replace("/", "."): text
               for name, text in sources.items()}  # fmt: skip
    imports = {name: imported(text, modules) - {name} for name, text in modules.items()}

    @cache
    def below(name: str) -> list[str]:
        return [name, *longest(below(other) for other in imports[name])]

    return longest(map(below, modules))


def longest(chains: Iterable[list[str]]) -> list[str]:
    found: list[str] = []
    for chain in chains:
        found = chain if len(chain) > len(found) else found
    return found


def imported(text: str, modules: dict[str, str]) -> set[str]:
    """Of the product, at the top of the module; `from package import module` names the module."""
    found = set()
    for node in ast.parse(text).body:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= (inner & modules.keys()) or {node.module}
    return found & modules.keys()


if __name__ == "__main__":
    main(Path(*sys.argv[1:]))
