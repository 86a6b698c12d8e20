from django.urls import include, path

from annotation.access.views import colleague
from annotation.payments import views as payments
from annotation.people import views as people
from annotation.prolific import views as prolific
from annotation.studies import benchmark_page, members_page, settings_page
from annotation.studies import views as studies
from annotation.studies.account_page import account
from annotation.studies.views import preview
from annotation.webhooks.views import webhooks
from annotation.work import entering
from annotation.work import views as work

STUDY = "research/studies/<slug:slug>"
PAYMENTS = f"{STUDY}/payments"
PERSON = f"{STUDY}/people/<int:assignment_id>"

app_name = "annotation"
urlpatterns = [
    # Somebody at work: looked up first, since that is asked for by far most often.
    path("work/submit/", work.submit, name="submit"),
    path("work/next/", work.proceed, name="proceed"),
    path("work/consent/", entering.consent, name="consent"),
    path("work/try/<int:number>/", entering.try_one, name="try_one"),
    path("work/who/", entering.choose_who, name="choose_who"),
    path("work/", work.work, name="work"),
    path("work/begin/", work.begin, name="begin"),
    path("work/withdraw/", work.withdraw, name="withdraw"),
    path("work/comment/", work.comment, name="comment"),
    path("work/comment/stored/", work.comment_thanks, name="comment_thanks"),
    path("work/device/", work.another_device, name="another_device"),
    path("work/leave/", work.leave, name="leave"),
    path("", studies.home, name="home"),
    path("colleagues/<slug:token>/", colleague, name="colleague"),
    path("account/", account, name="account"),
    # Annotators
    path("join/<slug:token>/", entering.open_link, {"name": "study"}, name="join_study"),
    path("join/batch/<slug:token>/", entering.open_link, {"name": "batch"}, name="join_batch"),
    path("join/pool/<slug:token>/", entering.open_link, {"name": "pool"}, name="join_pool"),
    path(
        "invited/<slug:token>/",
        entering.open_link,
        {"name": "invitation"},
        name="accept_invitation",
    ),
    path("resume/<slug:token>/", entering.resume, name="resume"),
    path("go/", work.enter_code, name="enter_code"),
    path("language/", work.choose_language, name="choose_language"),
    # Studies
    path("research/studies/new/", settings_page.new_study, name="new_study"),
    path(f"{STUDY}/settings/", settings_page.settings, name="settings"),
    path("research/benchmarks/<slug:name>/", benchmark_page.benchmark, name="benchmark"),
    *(
        path(f"{pattern}/{page.__name__}/", page, {"kind": kind}, name=f"{before}{page.__name__}")
        for kind, before, pattern in (
            ("study", "", "research/studies/<slug:name>"),
            ("benchmark", "benchmark_", "research/benchmarks/<slug:name>"),
        )
        for page in (members_page.members, members_page.log)
    ),
    path(f"{STUDY}/start/", studies.start, name="start"),
    path(f"{STUDY}/study.toml", studies.study_file, name="study_file"),
    path(f"{STUDY}/invitations.csv", studies.invitation_links, name="invitation_links"),
    path("research/batches/<int:batch_id>/preview/", preview, name="preview"),
    path(f"{STUDY}/judgements.<str:file_format>", studies.judgements, name="export_judgements"),
    path(f"{STUDY}/data/", studies.exports, name="exports"),
    path(f"{STUDY}/data/ids/", studies.ids, name="export_ids"),
    path(f"{STUDY}/data/<slug:name>.csv", studies.export, name="export"),
    path(f"{STUDY}/data/<slug:name>.xlsx", studies.workbook, name="export_workbook"),
    path(f"{STUDY}/data/<slug:name>/dictionary.csv", studies.dictionary, name="export_dictionary"),
    # People
    path(f"{STUDY}/watch/", people.watch, name="watch"),
    path(f"{STUDY}/people/", people.people, name="people"),
    path(f"{STUDY}/people.csv", people.people_export, name="people_export"),
    path(f"{STUDY}/people.xlsx", people.people_workbook, name="people_workbook"),
    path(f"{PERSON}/", people.person, name="person"),
    path(f"{PERSON}/release/", people.release, name="release_place"),
    path(f"{PERSON}/exclude/", people.exclude_person, name="exclude_person"),
    path(f"{PERSON}/lift/", people.lift_person, name="lift_person"),
    # Payments
    path(f"{PAYMENTS}/", payments.payments, name="payments"),
    path(f"{PAYMENTS}/approve/", payments.approve_payments, name="approve_payments"),
    path(f"{PAYMENTS}/rewards/", payments.set_rewards, name="set_rewards"),
    path(f"{PAYMENTS}/send/", payments.send_payments, name="send_payments"),
    path(
        f"{PAYMENTS}/correct/<int:assignment_id>/", people.correct_payment, name="correct_payment"
    ),
    path(f"{PAYMENTS}/settle/<int:payout_id>/", payments.settle_payout, name="settle_payout"),
    path(f"{PAYMENTS}/sent/<int:payout_id>.csv", payments.sent_file, name="sent_file"),
    path(f"{STUDY}/payments-dictionary.csv", payments.dictionary, name="payments_dictionary"),
    path(f"{STUDY}/payments.<str:file_format>", payments.export, name="export_payments"),
    path(f"{STUDY}/webhooks/", webhooks, name="webhooks"),
    # Prolific
    path(f"{STUDY}/prolific/", prolific.prolific, name="prolific"),
    path(f"{STUDY}/prolific/<slug:act>/", prolific.act, name="prolific_act"),
    path("prolific/<slug:token>/", prolific.report, name="prolific_report"),
    path("api/", include("annotation.api.urls")),
]
