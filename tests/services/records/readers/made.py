"""Small real documents, made here."""

import io
import zipfile
from collections.abc import Sequence

from docx import Document

WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
RTF = (
    rb"{\rtf1\ansi\deff0 {\fonttbl{\f0 Arial;}}\b Discharge letter\b0\par "
    rb"Sodium 139 mmol/l, f\'fcr heute.\par}"
)


def word(paragraphs: Sequence[str], rows: Sequence[Sequence[str]] = ()) -> bytes:
    document = Document()
    for text in paragraphs:
        document.add_paragraph(text)
    if rows:
        table = document.add_table(rows=0, cols=len(rows[0]))
        for row in rows:
            for cell, text in zip(table.add_row().cells, row, strict=True):
                cell.text = text
    data = io.BytesIO()
    document.save(data)
    return data.getvalue()


def pdf(pages: Sequence[str]) -> bytes:
    """Return a PDF with a line of text on each page; none where the text is empty."""
    kids = " ".join(f"{4 + 2 * at} 0 R" for at in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for at, text in enumerate(pages):
        drawn = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET" if text else "0 0 m 9 9 l S"
        font = "/Resources << /Font << /F1 3 0 R >> >>"
        box = f"/MediaBox [0 0 612 792] {font} /Contents {5 + 2 * at} 0 R"
        page = f"<< /Type /Page /Parent 2 0 R {box} >>"
        objects += [page, f"<< /Length {len(drawn)} >>\nstream\n{drawn}\nendstream"]
    body, places = bytearray(b"%PDF-1.4\n"), list[int]()
    for number, each in enumerate(objects, start=1):
        places.append(len(body))
        body += f"{number} 0 obj\n{each}\nendobj\n".encode()
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    end = f"xref\n0 {len(places) + 1}\n0000000000 65535 f \n{table}trailer\n"
    end += f"<< /Size {len(places) + 1} /Root 1 0 R >>\nstartxref\n{len(body)}\n%%EOF"
    return bytes(body) + end.encode()


def cda(sections: str, body: str = "structuredBody") -> bytes:
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<ClinicalDocument xmlns="urn:hl7-org:v3" xmlns:sdtc="urn:hl7-org:sdtc">
  <templateId root="2.16.840.1.113883.10.20.22.1.1"/>
  <title>Continuity of Care Document</title><effectiveTime value="20260312101500+0100"/>
  <recordTarget><patientRole><patient><name>Not for the text</name></patient></patientRole>
  </recordTarget>
  <author><time value="20260312"/><assignedAuthor><assignedPerson><name><given>Ada</given>
    <family>Meier</family></name></assignedPerson></assignedAuthor></author>
  <component><{body}>{sections}</{body}></component>
</ClinicalDocument>""".encode()


MEDICATIONS = """<component><section><title>Medications</title><text><table>
  <thead><tr><th>Drug</th><th>Dose</th></tr></thead>
  <tbody><tr><td>Apixaban</td><td>5 mg <content ID="x">twice</content> daily</td></tr></tbody>
</table><list><item>Taken with food</item></list></text></section></component>"""


def zip_bomb(size: int) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", b"0" * size)
    return data.getvalue()
