"""Documents as text: plain text, HTML, Markdown, RTF, PDF, CDA and Word.

`reading.DocumentReader` is the only way in. What strangers wrote is taken apart in a process that
is killed at its limits; `attachments` puts the text into the resources of a chart.
"""
