"""Reads blocks and views as JSON lines, and says what the models of python-slack-sdk think of each.

A block passes if the models know its type, accept it, and give back everything that was in it.
"""

import json
import logging
import sys

sys.path.insert(0, sys.argv[1])

from slack_sdk.errors import SlackObjectFormationError  # noqa: E402
from slack_sdk.models.blocks import Block  # noqa: E402
from slack_sdk.models.views import View  # noqa: E402

warnings: list[str] = []


class Warnings(logging.Handler):
    def emit(self, record):
        warnings.append(record.getMessage())


logging.getLogger("slack_sdk").addHandler(Warnings())
logging.getLogger("slack_sdk").propagate = False


def lost(given, kept, path=""):
    """Names the first part of a value that its model does not give back."""
    if isinstance(given, dict) and isinstance(kept, dict):
        for key, value in given.items():
            if key not in kept:
                # An empty list or text and no list or text are the same to the models.
                if value in ([], "", None):
                    continue
                return f"{path}.{key}"
            found = lost(value, kept[key], f"{path}.{key}")
            if found:
                return found
        return None
    if isinstance(given, list) and isinstance(kept, list) and len(given) == len(kept):
        for index, (left, right) in enumerate(zip(given, kept)):
            found = lost(left, right, f"{path}[{index}]")
            if found:
                return found
        return None
    return None if given == kept else path


def judge(kind, value):
    warnings.clear()
    try:
        model = View(**value) if kind == "view" else Block.parse(value)
        if model is None:
            return "an unknown type"
        kept = model.to_dict()
    except (SlackObjectFormationError, TypeError, ValueError) as error:
        return f"refused: {error}"
    if warnings:
        return f"warned: {warnings[0][:200]}"
    part = lost(value, kept)
    return f"not kept: {part}" if part else None


for line in sys.stdin:
    read = json.loads(line)
    print(json.dumps({"id": read["id"], "problem": judge(read["kind"], read["value"])}), flush=True)
