"""Which rows of a view a question asks for, and the line that each makes."""
