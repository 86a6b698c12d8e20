"""What describes the API to programs."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import call_command
from rest_framework.test import APIClient

from tests import make


def test_describes_every_address_without_a_doubt(tmp_path: Path) -> None:
    """Raises CommandError for what is described twice, not at all, or is no OpenAPI."""
    file = tmp_path / "schema.yml"
    call_command("spectacular", file=str(file), validate=True, fail_on_warn=True)
    for address in ("/api/studies/{slug}/progress/", "/api/jobs/{id}/", "/api/runs/{id}/finish/"):
        assert address in file.read_text()


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
