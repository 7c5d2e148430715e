"""A table of bounded size."""

from data_models.values import Newest


def test_what_was_put_longest_ago_goes_first() -> None:
    kept = Newest[str, int](limit=2)
    for name, value in (("a", 1), ("b", 2), ("a", 3), ("c", 4)):
        kept[name] = value
    assert dict(kept) == {"a": 3, "c": 4}


def test_putting_one_again_takes_no_place() -> None:
    kept = Newest[str, int](limit=2)
    for name, value in (("a", 1), ("b", 2), ("b", 3)):
        kept[name] = value
    assert list(kept) == ["a", "b"]
