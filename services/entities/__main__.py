"""`python -m services.entities replay FILE.json`: see `evals/parts/entities.py`."""

import sys

if __name__ == "__main__":
    try:
        from evals.parts.entities import main
    except ModuleNotFoundError as error:
        raise SystemExit("replay: run it from the source tree; the image has no evals/") from error
    sys.exit(main())
