"""The mapping of a provider's groups to roles, the setting `oidc_roles`."""

from gamekeeper.settings import BadSetting, Settings, variable
from gamekeeper.store.identities import Identity


def parse_mapping(text: str) -> list[tuple[str, str]]:
    """Parse the setting `oidc_roles`, such as `ops=admin,support=moderator`, to pairs of group and role."""
    found: list[tuple[str, str]] = []
    for each in filter(None, (part.strip() for part in text.split(","))):
        group, _, role = (part.strip() for part in each.rpartition("="))
        if not group or not role:
            raise BadSetting(f"{variable('oidc_roles')} has '{each}' in it; it must be group=role, such as ops=admin.")
        found.append((group, role.lower()))
    return found


def is_mapped(groups: frozenset[str], settings: Settings) -> bool:
    """Return whether the setting `oidc_roles` names one of these groups."""
    return any(group in groups for group, _ in parse_mapping(settings.oidc_roles))


def is_removable(identity: Identity, settings: Settings) -> bool:
    """Return whether an account may remove an identity.

    With a mapping of roles, the removed identity would make a second account at its next sign-in. One person could then
    approve their own changes.
    """
    return identity.issuer != settings.oidc_issuer or not parse_mapping(settings.oidc_roles)
