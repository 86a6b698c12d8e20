from django.urls import path

from annotation.payments import views

STUDY = "studies/<slug:slug>"

urlpatterns = [
    path(f"{STUDY}/payments/", views.payments, name="payments"),
    path(f"{STUDY}/payments/approve/", views.approve_payments, name="approve_payments"),
    path(f"{STUDY}/payments/rewards/", views.set_rewards, name="set_rewards"),
    path(f"{STUDY}/payments/send/", views.send_payments, name="send_payments"),
    path(
        f"{STUDY}/payments/correct/<int:assignment_id>/",
        views.correct_payment,
        name="correct_payment",
    ),
    path(f"{STUDY}/payments/settle/<int:payout_id>/", views.settle_payout, name="settle_payout"),
    path(f"{STUDY}/payments-dictionary.csv", views.dictionary, name="payments_dictionary"),
    path(f"{STUDY}/payments.<str:file_format>", views.export, name="export_payments"),
]
