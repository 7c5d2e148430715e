"""Importers of what came before this form, run by hand; nothing of the server knows them."""
