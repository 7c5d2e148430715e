"""What `docs/contributing.md` says of where a change goes, tried: each adds what it names."""
