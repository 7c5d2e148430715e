"""Text of RTF documents."""

from striprtf.striprtf import rtf_to_text

from data_models.errors import RecordsUnreadableError
from services.records.readers.markup import tidied


def text_of_rtf(data: bytes) -> str:
    """Return the text.

    Raises:
        RecordsUnreadableError: it is no RTF.
    """
    source = data.decode("latin-1")  # RTF is seven bits wide and escapes the rest
    if not source.lstrip().startswith("{\\rtf"):
        raise RecordsUnreadableError("the RTF is damaged")
    try:
        return tidied(rtf_to_text(source, encoding="cp1252", errors="replace"))  # type: ignore[no-untyped-call]
    except (ValueError, LookupError, IndexError, UnicodeError):
        raise RecordsUnreadableError("the RTF is damaged") from None
