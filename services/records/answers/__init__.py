"""What the rows of a chart say to a question: which rows, and in which words. Pure."""
