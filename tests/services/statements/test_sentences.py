import time

from hypothesis import given
from hypothesis import strategies as st

from services.language.sentences.sentences import SentenceStream, sentences_of

TEXT = """## Labs
Potassium was 4.1 mmol/L on 2. März 2026. Dr. Weber saw her, e.g. in May. She is well! Fine
- **Apixaban** 5 mg: since 2025. Stop.
1. First item
| a | b |

Stage IV. No allergies. The end is 5. Then 6.
No. She has none, as in No. 4 of them.
He got hep A. Dr. A. Weber saw him.
She has stage 4. eGFR of 98 would be G1. pH was 7.4."""


def test_sentences_end_where_a_reader_says_they_end() -> None:
    assert [one.strip() for one in sentences_of(TEXT)] == [
        "## Labs",
        "Potassium was 4.1 mmol/L on 2. März 2026.",
        "Dr. Weber saw her, e.g. in May.",
        "She is well!",
        "Fine",
        "- **Apixaban** 5 mg: since 2025.",
        "Stop.",
        "1. First item",
        "| a | b |",
        "Stage IV.",
        "No allergies.",
        "The end is 5.",
        "Then 6.",
        "No.",
        "She has none, as in No. 4 of them.",
        "He got hep A.",
        "Dr. A. Weber saw him.",
        "She has stage 4.",
        "eGFR of 98 would be G1.",
        "pH was 7.4.",
    ]


def test_a_sentence_is_complete_with_the_first_word_behind_it() -> None:
    stream = SentenceStream()
    assert stream.feed("Potassium is 4.") == []
    assert stream.feed("1 mmol/L. The") == ["Potassium is 4.1 mmol/L. "]
    assert stream.finish() == ["The"]


@given(st.text(alphabet="aB1. !\n-|", max_size=80), st.lists(st.integers(1, 7), max_size=30))
def test_pieces_joined_are_the_text(text: str, sizes: list[int]) -> None:
    stream, found, at = SentenceStream(), list[str](), 0
    for size in sizes:
        found += stream.feed(text[at : at + size])
        at += size
    found += stream.feed(text[at:])
    assert "".join([*found, *stream.finish()]) == text


def test_many_marks_in_a_row_are_looked_at_once_each() -> None:
    began = time.process_time()
    assert "".join(sentences_of("?" * 16_000)) == "?" * 16_000
    assert time.process_time() - began < 5.0
