"""What describes the API to programs."""

from pathlib import Path

from django.core.management import call_command


def test_describes_every_address_without_a_doubt(tmp_path: Path) -> None:
    """Raises CommandError for what is described twice, not at all, or is no OpenAPI."""
    file = tmp_path / "schema.yml"
    call_command("spectacular", file=str(file), validate=True, fail_on_warn=True)
    for address in ("/api/studies/{slug}/progress/", "/api/jobs/{id}/", "/api/runs/{id}/finish/"):
        assert address in file.read_text()
