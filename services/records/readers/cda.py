"""Text of CDA and C-CDA documents: header, then each section with its narrative."""

import base64
import binascii
from collections.abc import Iterator
from xml.etree.ElementTree import Element, ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import fromstring

from data_models.errors import RecordsUnreadableError
from services.records.readers.markup import BLOCKS, CELLS, tidied
from services.records.readers.result import DEPTH_LIMIT

_NAMESPACE = "{urn:hl7-org:v3}"


def text_of_cda(data: bytes) -> str:
    """Return title, author, date and sections; of other XML, its text.

    Raises:
        RecordsUnreadableError: no XML, entities of its own, nested too deeply.
    """
    root = _parsed(data)
    if root.tag != f"{_NAMESPACE}ClinicalDocument":
        return tidied(_narrative(root))
    sections = [_section(each) for each in root.iter(f"{_NAMESPACE}section")]
    return tidied("\n\n".join([*_header(root), *(one for one in sections if one)]))


def body_of_cda(data: bytes) -> tuple[bytes, str] | None:
    """Return the document and its media type that a CDA without sections carries, if it does."""
    root = _parsed(data)
    text = root.find(f".//{_NAMESPACE}nonXMLBody/{_NAMESPACE}text")
    if text is None or text.get("representation") != "B64":
        return None
    try:
        return base64.b64decode("".join(text.itertext())), text.get("mediaType") or ""
    except (binascii.Error, ValueError):
        raise RecordsUnreadableError("the document inside the CDA is damaged") from None


def _parsed(data: bytes) -> Element:
    try:
        root: Element = fromstring(data, forbid_dtd=True)
    except DefusedXmlException:
        raise RecordsUnreadableError(
            "the XML declares entities or a document type, which are not read"
        ) from None
    except (ParseError, ValueError, LookupError, RecursionError):
        raise RecordsUnreadableError("the XML is damaged") from None
    _refuse_deep(root)
    return root


def _refuse_deep(root: Element) -> None:
    level = [root]
    for _ in range(DEPTH_LIMIT):
        level = [child for each in level for child in each]
        if not level:
            return
    raise RecordsUnreadableError(f"the XML is nested deeper than {DEPTH_LIMIT} levels")


def _header(root: Element) -> Iterator[str]:
    if title := root.findtext(f"{_NAMESPACE}title"):
        yield title.strip()
    when = root.find(f"{_NAMESPACE}effectiveTime")
    stamp = (when.get("value") or "") if when is not None else ""
    if len(stamp) >= 8:
        yield f"Date: {stamp[:4]}-{stamp[4:6]}-{stamp[6:8]}"
    for author in root.iterfind(f"{_NAMESPACE}author/{_NAMESPACE}assignedAuthor"):
        name = author.find(f"{_NAMESPACE}assignedPerson/{_NAMESPACE}name")
        if name is not None:
            yield f"Author: {' '.join(' '.join(name.itertext()).split())}"


def _section(section: Element) -> str:
    title = (section.findtext(f"{_NAMESPACE}title") or "").strip()
    text = section.find(f"{_NAMESPACE}text")
    said = "" if text is None else tidied(_narrative(text))
    return f"{title}\n{said}".strip() if said or title else ""


def _narrative(element: Element) -> str:
    tag = element.tag.rpartition("}")[2]
    parts = [" ".join((element.text or "").split())]
    for child in element:
        tail = " ".join((child.tail or "").split())
        parts += [_narrative(child), f" {tail}" if tail else ""]
    inner = "".join(parts)
    if tag in BLOCKS:
        return f"\n{inner}\n"
    return f"{inner} | " if tag in CELLS else f" {inner}"
