"""Addresses of the sign-in page, and redirects to it."""

from world import Answer

SIGN_IN, SIGN_OUT = "/console/sign-in", "/console/sign-out"
SOMEBODY = "/console/done/none"  # path of a console page that always exists


def is_sent_to_sign_in(answer: Answer) -> bool:
    assert answer.status in {200, 303}, answer.raw
    return answer.status == 303 and answer.headers["location"].startswith(SIGN_IN)
