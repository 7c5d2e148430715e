"""`python -m group_chat.models check`: says what the configured model can do, by asking it."""

import argparse
import asyncio
import sys

from data_models.errors import ConfigurationError
from group_chat.kernel_import import import_kernel
from group_chat.models.model_settings import model_settings_of
from settings import Settings


def main() -> int:
    """Print the model's profile and what became of five questions; 1 if it does not serve."""
    parser = argparse.ArgumentParser(prog="python -m group_chat.models", description=__doc__)
    parser.add_argument("command", choices=["check"], help="ask the configured model five things")
    parser.parse_args()
    try:
        settings = model_settings_of(Settings())
        if settings.provider == "offline":
            sys.stdout.write("No model is configured: set OPENAI_BASE_URL and OPENAI_MODEL.\n")
            return 1
        import_kernel()
        from group_chat.models.checking import check_model

        text, serves = asyncio.run(check_model(settings))
    except ConfigurationError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(text)
    return 0 if serves else 1


if __name__ == "__main__":
    sys.exit(main())
