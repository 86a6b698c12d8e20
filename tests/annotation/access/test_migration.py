"""What an installation that is there gets: members for owners, and the researchers' group."""

from importlib import import_module

import pytest
from django.contrib.auth.models import Group, User
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from annotation.models import Membership
from annotation.models.locks import create_locks, drop_locks
from annotation.models.triggers import create_triggers
from tests import make

BEFORE = [("annotation", "0012_members_and_changes"), ("scoring", "0006_finished_runs_of_a_day")]


@pytest.mark.django_db(transaction=True)
def test_makes_owners_members_and_gives_a_benchmark_its_first_studys_owner() -> None:
    owner, second = User.objects.create_user("first"), User.objects.create_user("second")
    bench = make.benchmark()
    studies = {name: make.study(bench, slug=name).pk for name in ("nobodys", "first", "second")}
    forwards = MigrationExecutor(connection).loader.graph.leaf_nodes()
    executor = MigrationExecutor(connection)
    drop_locks(connection)
    executor.migrate(BEFORE)
    try:
        old = executor.loader.project_state(BEFORE).apps.get_model("annotation", "Study")
        old.objects.filter(pk=studies["first"]).update(owner=owner.pk)
        old.objects.filter(pk=studies["second"]).update(owner=second.pk)
    finally:
        MigrationExecutor(connection).migrate(forwards)
        create_triggers(connection)
        create_locks(connection)
    made = set(Membership.objects.values_list("user__username", "study__slug", "benchmark__name"))
    assert made == {
        ("first", "first", None),
        ("second", "second", None),
        ("first", None, bench.name),
    }
    assert set(Membership.objects.values_list("role", flat=True)) == {"owner"}


@pytest.mark.django_db
def test_makes_a_group_that_may_use_the_admin_but_change_no_channel() -> None:
    group = Group.objects.get(name="Researchers")
    granted = set(group.permissions.values_list("content_type__app_label", "codename").order_by())
    wanted = {
        (app, f"{verb}_{model}")
        for app, module in (
            ("annotation", "0015_researchers"),
            ("annotation", "0021_researchers_read_comments"),
            ("scoring", "0007_researchers"),
        )
        for model, verbs in import_module(f"{app}.migrations.{module}").PERMISSIONS.items()
        for verb in verbs
    }
    assert granted == wanted
    assert ("annotation", "view_channel") in granted
    assert ("annotation", "change_channel") not in granted
    assert not {name for app, name in granted if app not in ("annotation", "scoring")}
