"""Operators are told with their directory; an id alone is the home directory's."""

from services.access.principal import UserRules
from tests.tables import with_cases

WHO = "Object-Id"


@with_cases("listed", "tenant", "home", "is_operator")
def test_another_directorys_user_with_the_same_id_is_no_operator(
    listed: str, tenant: str, home: str | None, is_operator: bool
) -> None:
    roles = UserRules(operators=[listed], home=home).roles_of_user(tenant, WHO)
    assert ("operator" in roles) is is_operator
