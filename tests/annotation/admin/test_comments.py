"""Comments may tell test items, so whoever may see the gold reads them, and nobody else."""

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from annotation.models import Comment
from annotation.work.commenting import add_comment
from tests import make

pytestmark = pytest.mark.django_db
LIST = "admin:annotation_comment_changelist"


@pytest.fixture
def comment() -> Comment:
    assignment = make.at_work(make.running_batch())
    return add_comment(assignment, text="The label is wrong.", step=0, at=make.NOON)


def test_shows_comments_with_their_item_and_pseudonym(
    admin_client: Client, comment: Comment
) -> None:
    page = admin_client.get(reverse(LIST)).content.decode()
    assert "The label is wrong." in page
    assert comment.assignment.annotator.pseudonym in page
    address = reverse("admin:annotation_comment_change", args=[comment.pk])
    page = admin_client.get(address).content.decode()
    assert str(comment.example) in page
    assert 'name="_save"' not in page


def test_shows_none_to_who_may_not_see_the_gold(comment: Comment) -> None:
    reader = User.objects.create_user("reader", is_staff=True)
    reader.user_permissions.add(Permission.objects.get(codename="view_comment"))
    client = Client()
    client.force_login(reader)
    assert "The label is wrong." not in client.get(reverse(LIST)).content.decode()
    address = reverse("admin:annotation_comment_change", args=[comment.pk])
    assert "The label is wrong." not in client.get(address, follow=True).content.decode()


def test_leads_there_from_the_page_that_watches_a_study(
    admin_client: Client, comment: Comment
) -> None:
    study = comment.assignment.study
    page = admin_client.get(reverse("annotation:watch", args=[study.slug])).content.decode()
    assert f"{reverse(LIST)}?assignment__study__id__exact={study.pk}" in page
