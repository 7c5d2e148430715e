"""The Bot Framework end of the chat; alone in importing botbuilder."""
