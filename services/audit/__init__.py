"""The audit trail: who saw or changed which patient's data, and nothing of what it said."""
