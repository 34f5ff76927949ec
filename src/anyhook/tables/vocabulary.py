"""The words that agents' files are written with: `from anyhook.tables.vocabulary import *`. An agent that only calls us
needs those of `tables/host_rows.py` alone."""

from __future__ import annotations

from anyhook.model.hook import BROKEN, DISABLED, Hook, Layer, Source
from anyhook.programs.commands import check_text
from anyhook.programs.loose import words_read
from anyhook.programs.named import named_files
from anyhook.tables.cells import *
from anyhook.tables.host_rows import *
from anyhook.tables.hosted import *
from anyhook.tables.isolation import one_file
from anyhook.tables.patterns import BadPattern, check_pattern, compile_pattern
from anyhook.tables.readers import *
from anyhook.tables.rows import *
from anyhook.tables.shapes import *

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from anyhook.documents.files import Files
    from anyhook.model.call import Run
    from anyhook.model.event import Event
    from anyhook.model.json_types import Json
    from anyhook.model.words import HandlerKind, HookScope, HostEffect
    from anyhook.tables.cell_names import Printed, ScaffoldShape, Words
    from anyhook.tables.drive_rows import Drive
    from anyhook.tables.sample_rows import Sample

__all__ = [
    # rows of hooks (`tables/rows.py`), of calls to us (`tables/host_rows.py`), and of hook files (`tables/shapes.py`)
    "SPECIFIC", "Asking", "Builtin", "Dialect", "EventRow", "Failing", "Field", "Key", "Launch", "Limits", "Misplaced",
    "Reply", "Roots", "Scaffold", "Scene", "ToolRow", "differences", "fields",
    "Entry", "Host", "HostEvent", "HostTool", "OffSwitch", "ProductChange", "Say", "Sign", "Taken", "left_out",
    "taken", "until",
    "Entries", "EntryShape", "HandlerShape", "canonical", "guess", "numbered", "read_limit", "slug",
    "BROKEN", "DISABLED", "Hook", "Layer", "Source", "check_text", "one_file",
    # cells (`tables/cells.py`), also those of agents that call us (`tables/hosted.py`)
    "MATCH_ALL", "agent_id", "always", "event_in_snake_case", "everything", "failed", "fixed", "is_plain", "local_time",
    "named_or_found", "names_or_pattern", "native_name", "output_alone", "output_text", "project", "projects",
    "searched", "session", "snake_case", "text_of", "tool_and_content", "utc_time", "whole_value",
    "alone", "env_of", "event_rows", "in_a_shell", "merged", "no_transcript", "not_in_a_stop_hook", "now", "plugin",
    "read_new", "said_new", "shown_result", "switched", "tool_rows", "without",
    # answers (`tables/readers.py`), patterns (`tables/patterns.py`), command lines (`programs/`)
    "last_line_object", "object_or_nothing", "object_or_prose", "object_or_text", "object_or_words", "whole_object",
    "whole_object_strict", "yes_or_no", "BadPattern", "check_pattern", "compile_pattern", "named_files", "words_read",
]  # fmt: skip
if TYPE_CHECKING:
    __all__ += [
        "Any", "Callable", "Draft", "Drive", "Event", "Files", "HandlerKind", "HookScope", "HostEffect", "Input",
        "Iterable", "Json", "Mapping", "Printed", "Run", "Sample", "ScaffoldShape", "Variables",
        "Words",
    ]  # fmt: skip
