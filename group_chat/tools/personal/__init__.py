"""Tools over a user's own calendar, mail, contacts, tasks and documents."""
