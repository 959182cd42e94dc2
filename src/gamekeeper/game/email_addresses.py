"""Checks email addresses. A module of its own, because the library loads slowly, and few commands check an address."""

import email_validator
from email_validator import EmailNotValidError, validate_email

__all__ = ["EmailNotValidError", "validate_email"]

email_validator.SPECIAL_USE_DOMAIN_NAMES.clear()  # accept .test and .local: local networks use such addresses
