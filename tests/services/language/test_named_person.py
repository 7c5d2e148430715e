"""The list of people's names."""

from services.language.people.named_person import LIST, is_known_name


def test_the_list_is_sorted_as_it_is_searched() -> None:
    names = LIST.read_text("utf-8").splitlines()
    assert names == sorted(names)
    known = [names[0], names[-1], *names[:: len(names) // 200]]
    assert [name for name in known if not is_known_name(name)] == []


def test_what_is_no_name_or_a_part_of_one_is_not_known() -> None:
    assert [word for word in ("", "a", "zzzzz", "ÿ", "bridgewaterx") if is_known_name(word)] == []
