"""`python -m services.tool_memory resolve FILE.json`: see `evals/parts/references.py`."""

import sys

if __name__ == "__main__":
    try:
        from evals.parts.references import main
    except ModuleNotFoundError as error:
        raise SystemExit("resolve: run it from the source tree; the image has no evals/") from error
    sys.exit(main())
