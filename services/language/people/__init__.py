"""Whom words name, describe or point at."""
