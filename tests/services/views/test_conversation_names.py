from data_models.identifiers import hashed, storage_folder
from services.views import conversation_list
from services.views.conversation_list import first_question, snippet_of
from tests.fakes_store import MemoryBlobStore
from tests.given import present
from tests.routes.fakes import TURNS


def test_a_long_question_is_cut_at_a_word() -> None:
    title = conversation_list.made_title("What did the last " + "very " * 30 + "long scan say?")
    assert title.endswith("very …")
    assert len(title) <= conversation_list.MADE_CHARS + 2
    assert conversation_list.made_title("x" * 100) == "x" * conversation_list.MADE_CHARS + " …"


def test_a_message_that_only_opens_a_chart_makes_no_title() -> None:
    opened = TURNS[0].model_copy(update={"user_message": "patient_4"})
    asked = TURNS[1].model_copy(update={"user_message": "What is her potassium?"})
    assert first_question([opened, asked]) == "What is her potassium?"
    orders = ("switch to patient_4", "open patient_15", "clear patient context", "stop please")
    ordered = [TURNS[0].model_copy(update={"user_message": text}) for text in orders]
    assert first_question([*ordered, asked]) == "What is her potassium?"
    both = TURNS[0].model_copy(update={"user_message": "switch to patient_4 and show the labs"})
    assert first_question([both, asked]) == both.user_message
    assert first_question([opened]) == ""
    assert first_question([]) == ""


def test_a_snippet_shows_the_words_around_the_one_that_was_looked_for() -> None:
    turn = TURNS[0].model_copy(update={"user_message": "a " * 100 + "Warfarin " + "b " * 100})
    snippet = snippet_of(turn, ["warfarin", "b"])
    assert "Warfarin b b" in snippet
    assert snippet.startswith("… ")
    assert snippet.endswith(" …")
    assert snippet_of(turn, ["warfarin", "z"]) == ""


async def test_names_are_kept_for_each_user_and_forgotten_by_conversation() -> None:
    store = MemoryBlobStore()
    names = conversation_list.NameStore(store=store)
    await names.change("ada", "chat_1", title="mine")
    await names.change("ada", "chat_2", is_archived=True)
    assert list(store.contents) == [f"names/{hashed('ada')}.json"]
    assert (await names.read("ada")).of("chat_1").title == "mine"
    assert (await names.read("ben")).of("chat_1").title == ""
    data = present(await store.read(f"names/{hashed('ada')}.json"))
    assert conversation_list.without_conversations(data.data, ["chat_3"]) is None
    rest = present(conversation_list.without_conversations(data.data, [storage_folder("chat_1")]))
    assert b"mine" not in rest
    assert b"chat_2" in rest
