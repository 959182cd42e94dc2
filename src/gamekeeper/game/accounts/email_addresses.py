"""The check of email addresses. It is a separate module, because its library loads slowly and few commands need it."""

import email_validator
from email_validator import EmailNotValidError, validate_email

__all__ = ["EmailNotValidError", "validate_email"]

email_validator.SPECIAL_USE_DOMAIN_NAMES.clear()  # accept .test and .local: local networks use such addresses
