import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def reference(shared: Path) -> Callable[[str], Any]:
    """Reads one file of reference values by its stem."""
    return lambda stem: json.loads((shared / "reference" / f"{stem}.json").read_text())
