"""Tools of the clinic: appointments, registration, drafts of orders."""
