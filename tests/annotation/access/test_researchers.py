"""What every installation gets: the researchers' group."""

from importlib import import_module

import pytest
from django.contrib.auth.models import Group


@pytest.mark.django_db
def test_makes_a_group_that_may_use_the_admin_but_change_no_channel() -> None:
    group = Group.objects.get(name="Researchers")
    granted = set(group.permissions.values_list("content_type__app_label", "codename").order_by())
    wanted = {
        (app, f"{verb}_{model}")
        for app, module in (
            ("annotation", "0002_ready_made"),
            ("scoring", "0002_researchers"),
            ("scoring", "0004_bundle_checkers"),
        )
        for model, verbs in import_module(f"{app}.migrations.{module}").PERMISSIONS.items()
        for verb in verbs
    }
    assert granted == wanted
    assert ("annotation", "view_channel") in granted
    assert ("annotation", "change_channel") not in granted
    assert not {name for app, name in granted if app not in ("annotation", "scoring")}
