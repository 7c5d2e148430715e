"""Operators are told with their directory; an id alone is the home directory's."""

import pytest

from services.access.principal import UserRules

HOME, OTHER, WHO = "home-tenant", "other-tenant", "Object-Id"


@pytest.mark.parametrize(
    ("listed", "tenant", "home", "is_operator"),
    [
        (WHO, HOME, HOME, True),
        (WHO, OTHER, HOME, False),
        (f"entra:{OTHER}:{WHO}", OTHER, HOME, True),
        (f"entra:{OTHER}:{WHO}", HOME, HOME, False),
        (f"ENTRA:{HOME}:{WHO}", HOME, HOME, True),
        (WHO, OTHER, None, True),
        ("", HOME, HOME, False),
    ],
)
def test_another_directorys_user_with_the_same_id_is_no_operator(
    listed: str, tenant: str, home: str | None, is_operator: bool
) -> None:
    roles = UserRules(operators=[listed], home=home).roles_of_user(tenant, WHO)
    assert ("operator" in roles) is is_operator
