"""Clinical talk about charts: what clinicians say, and what is right worked out from bundles.

`words.yaml` was written before the grammar of the product was read; nothing shares code with it.
"""
