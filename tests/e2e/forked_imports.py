"""What a server imports, and the words that it reads at its start, ready before it is forked."""

# ruff: noqa: F401 - imported for those who are forked from here

import app
import group_chat.build
import group_chat.tools.personal.personal
from services.language.reading import make_ready

make_ready()
