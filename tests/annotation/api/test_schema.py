"""What describes the API to programs."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.conf import settings
from django.core.management import call_command
from rest_framework.test import APIClient

from tests import make


def test_describes_every_address_without_a_doubt(tmp_path: Path) -> None:
    """Raises CommandError for what is described twice, not at all, or is no OpenAPI."""
    file = tmp_path / "schema.yml"
    call_command("spectacular", file=str(file), validate=True, fail_on_warn=True)
    for address in ("/api/studies/{slug}/progress/", "/api/jobs/{id}/", "/api/runs/{id}/finish/"):
        assert address in file.read_text()


def test_names_every_address_in_its_reference(tmp_path: Path) -> None:
    reference = (settings.BASE_DIR / "docs/reference/api.md").read_text()
    table = reference.partition("## Addresses")[2].partition("\n## ")[0]
    # What follows a model's run is told in the section on uploads.
    paths = re.findall(r"`([^`?]+)/`", table)
    named = {[part for part in path.split("/") if not part.isupper()][-1] for path in paths}
    file = tmp_path / "schema.yml"
    call_command("spectacular", file=str(file))
    addresses = [a for a in yaml.safe_load(file.read_text())["paths"] if "/runs/" not in a]
    assert len(addresses) > 20
    for address in addresses:
        [*_, last] = [part for part in address.split("/") if part and "{" not in part]
        assert last in named, address


@pytest.mark.django_db
def test_describes_uploads_field_by_field() -> None:
    client = APIClient()
    client.force_authenticate(make.researcher())
    read: dict[str, tuple[Any, dict[str, str]]] = {
        "?format=json": (json.loads, {}),
        "?format=yaml": (yaml.safe_load, {}),
        "": (json.loads, {"Accept": "application/json"}),
    }
    described = [
        load(client.get(f"/api/schema/{query}", headers=headers).content)
        for query, (load, headers) in read.items()
    ]
    assert described[0] == described[1] == described[2]
    assert client.get("/api/schema/?format=xml").status_code == 404
    for address, needed in (("", ["name", "file"]), ("{name}/people/", ["file", "name", "source"])):
        [sent] = described[0]["paths"][f"/api/benchmarks/{address}"]["post"]["requestBody"][
            "content"
        ].items()
        assert (sent[0], sent[1]["schema"]["required"]) == ("multipart/form-data", needed)
        fields = sent[1]["schema"]["properties"]
        assert (fields["file"]["type"], fields["file"]["format"]) == ("string", "binary")
    assert fields["dry_run"]["type"] == "boolean"
    assert "letter" in fields["answer_by"]["enum"]
