"""Passwords and email addresses of accounts. Pass passwords as people type them; the client sends the SHA-256."""

from typing import Unpack

from msgspec import Struct

from gamekeeper_client.call import Payload
from gamekeeper_client.operation import WriteOptions, operation
from gamekeeper_client.tokens import hash_password
from gamekeeper_client.users import ChangedPower, User


class Message(Struct, rename="pascal"):
    message: str
    warning: str | None = None


class Credentials:
    @operation("POST", "/api/v1/users/{user}/password/validate")
    def validate_password(self, user: str, password: str) -> Payload[Message]:
        """Check an account's password. Needs the role users.query.

        password: the password to check.
        Returns a message if the password is right.
        Raises WrongPassword if it is wrong, TooManyGuesses, NoSuchUser, RoleMissing, BadPassword.
        """
        return Payload(Message, body={"password": hash_password(password)})

    @operation("POST", "/api/v1/users/{user}/email/change")
    def change_email(
        self, user: str, new: str, authorization: str, **options: Unpack[WriteOptions]
    ) -> Payload[User[ChangedPower]]:
        """Change an account's email address, with its password. Needs the role users.query.

        new: the new email address.
        authorization: the account's password.
        Returns the account after the change.
        Raises NoSuchUser, RoleMissing, WrongPassword, TooManyGuesses, EmailTaken, BadField.
        """
        return Payload(User[ChangedPower], body={"new": new, "authorization": hash_password(authorization)})

    @operation("POST", "/api/v1/users/{user}/password/change")
    def change_password(
        self, user: str, new: str, authorization: str, **options: Unpack[WriteOptions]
    ) -> Payload[Message]:
        """Change an account's password, with its current one. Needs the role users.query.

        All tokens of the account are revoked.

        new: the new password.
        authorization: the current password.
        Returns a message.
        Raises NoSuchUser, RoleMissing, WrongPassword, TooManyGuesses, BadPassword.
        """
        return Payload(Message, body={"new": hash_password(new), "authorization": hash_password(authorization)})

    @operation("POST", "/api/v1/users/{user}/manage/email/change")
    def manage_email(self, user: str, new: str, **options: Unpack[WriteOptions]) -> Payload[User[ChangedPower]]:
        """Change an account's email address without its password. Needs the role users.manage.

        new: the new email address.
        Returns the account after the change.
        Raises NoSuchUser, RoleMissing, EmailTaken, BadField.
        """
        return Payload(User[ChangedPower], body={"new": new})

    @operation("POST", "/api/v1/users/{user}/manage/password/change")
    def manage_password(self, user: str, new: str, **options: Unpack[WriteOptions]) -> Payload[Message]:
        """Change an account's password without its current one. Needs the role users.manage.

        All tokens of the account are revoked.

        new: the new password.
        Returns a message.
        Raises NoSuchUser, RoleMissing, BadPassword.
        """
        return Payload(Message, body={"new": hash_password(new)})

    @operation("GET", "/api/v1/users/{user}/password/reset")
    def request_password_reset(self, user: str, **options: Unpack[WriteOptions]) -> Payload[Message]:
        """Mail a one-time code to an account, so that its owner can set a new password. Needs the role users.query.

        Returns a message; its `warning` is set if the server has no SMTP settings.
        Raises NoSuchUser, RoleMissing, TooManyMails.
        """
        return Payload(Message)

    @operation("POST", "/api/v1/users/{user}/password/reset")
    def redeem_reset_code(self, user: str, code: str, new: str, **options: Unpack[WriteOptions]) -> Payload[Message]:
        """Set a new password with a one-time code. Needs the role users.query.

        code: the code from the mail.
        new: the new password.
        Returns a message.
        Raises NoSuchUser, RoleMissing, WrongCode, BadPassword.
        """
        return Payload(Message, body={"code": code, "new": hash_password(new)})
