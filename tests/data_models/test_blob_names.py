"""A name that passes stays in its folder on every store; every folder of ours passes."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_models.errors import InvalidIdentifierError
from data_models.identifiers import storage_folder
from data_models.storage.blob_store import checked_blob_name, checked_blob_prefix, is_blob_name

NEARLY_NAMES = st.text(alphabet="ab./\\:~%\n\x00 -_", max_size=12)


@pytest.mark.slow
@given(NEARLY_NAMES | st.text(max_size=20))
def test_a_legal_name_stays_under_its_root(name: str) -> None:
    if is_blob_name(name):
        root = Path("/data/chat-sessions")
        path = root / name
        assert path.resolve() == path
        assert path.is_relative_to(root)
        assert path != root
        assert name.isascii()


@given(st.text(min_size=1, max_size=300).filter(lambda text: text.isprintable()))
@pytest.mark.slow
def test_every_conversation_has_a_legal_name(conversation: str) -> None:
    name = f"{storage_folder(conversation)}/conversation.json"
    assert checked_blob_name(name) == name


@given(NEARLY_NAMES)
def test_a_prefix_is_a_name_and_a_slash(text: str) -> None:
    if is_blob_name(text):
        assert checked_blob_prefix(f"{text}/") == f"{text}/"
    with pytest.raises(InvalidIdentifierError):
        checked_blob_prefix(text.rstrip("/"))
    with pytest.raises(InvalidIdentifierError):
        checked_blob_prefix(f"{text}//")


@pytest.mark.parametrize(("length", "legal"), [(255, True), (256, False)])
def test_a_segment_fits_a_file_system(length: int, *, legal: bool) -> None:
    assert is_blob_name("a/" + "x" * length) is legal


@pytest.mark.parametrize(("length", "legal"), [(1_024, True), (1_025, False)])
def test_a_name_fits_the_service(length: int, *, legal: bool) -> None:
    assert is_blob_name(("x/" * 600)[: length - 1] + "x") is legal
