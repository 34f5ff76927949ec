"""The journal live in the terminal: a list, one record in full, a filter, a pause. It keeps only the newest rows."""

from __future__ import annotations

import asyncio
import os
import time
from collections import Counter, deque
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import on, work
from textual.app import App
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.events import Resize
from textual.screen import ModalScreen
from textual.widgets import DataTable, Footer, Input, Static
from textual.worker import Worker, get_current_worker

from anyhook.cli import BadCall
from anyhook.cli.journal_input import wanted_by
from anyhook.cli.view.approval_text import waiting_line
from anyhook.cli.view.record_text import short_time, tone
from anyhook.cli.view.rows import DAMAGED, Row, row_of, told_in_full
from anyhook.cli.view.text import visible
from anyhook.journal.search import Wanted, follow
from anyhook.platform.run import END_SIGNALS
from anyhook.state.approvals import Approvals

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType

KEPT = 500
"""How many rows the list has at most."""
SLACK = 200
"""How many more may come before the oldest are dropped: rebuilding the list costs more than adding to it."""
LOOK_S = 0.2
SHOW_S = 1.0
"""How often rows are drawn while many arrive; then only the newest are."""
BANNER_S = 15.0
"""How often the state of the guards is checked."""
TYPING_S = 0.3
"""A filter counts once nobody has typed for so long."""
ROOMY, NARROW = 100, 60
"""At least this wide, a line has all columns; below the second width, only the first three."""
TALL = 16
"""At least this high, the selected record is shown below the list."""
COLOUR = not os.environ.get("NO_COLOR")
GOOD, WARN, BAD = ("green", "yellow", "red") if COLOUR else ("", "", "bold")
"""Without colours only bold text stands out: a shade of grey could be the background's."""
STYLES = {"block": f"bold {BAD}", "ask": WARN, "allow": GOOD, DAMAGED: f"bold {BAD}"}
TONES = {"bad": STYLES["block"], "warn": WARN, "strong": "bold", "": ""}
NOTHING = "Nothing yet. Events appear here as soon as an agent fires them."
LOOKING = "Looking through the journal …"
NOTHING_FITS = "No record matches this filter. New ones that do will appear here."


class RecordScreen(ModalScreen[None]):
    """One record, as `anyhook explain` shows it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,enter,q", "dismiss", "Back")]

    def __init__(self, title: str, lines: Sequence[str]) -> None:
        super().__init__()
        self._title, self._lines = title, lines

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="full") as whole:
            whole.border_title = self._title
            text = Text("\n", overflow="fold").join(Text(line, TONES[tone(line)]) for line in self._lines)
            yield Static(text, markup=False)
        yield Footer()


class Grid(DataTable[Text]):
    """The list; its footer says what Enter does."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "select_cursor", "In full")]

    def on_resize(self) -> None:
        """Keep the selected row visible."""
        self.call_after_refresh(lambda: self.move_cursor(row=self.cursor_row, animate=False))


class Watch(App[None]):
    """The list, newest at the bottom. It stays at the end as long as the cursor is there."""

    TITLE = "anyhook watch"
    ENABLE_COMMAND_PALETTE = False
    CSS = """
    #head { height: 1; padding: 0 1; background: $primary-background; color: $text; }
    #filter { height: 1; border: none; padding: 0 1; background: $surface; }
    #filter:focus { background: $boost; }
    #said { height: 1; padding: 0 1; color: $warning; display: none; }
    #asked { height: auto; padding: 0 1; background: $warning; color: $text; display: none; }
    #off { height: auto; padding: 0 1; background: $error; color: $text; display: none; }
    #nothing { height: 1fr; content-align: center middle; color: $text-muted; }
    DataTable { height: 1fr; scrollbar-size-horizontal: 0; }
    #chosen { height: 2; padding: 0 1; background: $surface; }
    InFull { align: center middle; }
    #full { width: 96%; height: 94%; border: round $primary; background: $surface; padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "filter", "Filter", key_display="/"),
        Binding("escape", "leave_filter", "Clear filter"),
        Binding("p,space", "pause", "Pause"),
        Binding("end,G", "newest", "Newest", key_display="End"),
        Binding("q", "quit", "Quit"),
        Binding("ctrl+c", "quit", show=False, priority=True),
    ]

    def __init__(self, folder: str, query: str = "", banner: Callable[[], str] = str) -> None:
        """`banner` says which guards are off."""
        super().__init__()
        self._folder, self._query, self._banner = folder, query, banner
        self._rows: dict[str, Row] = {}
        self._held: deque[Row] = deque(maxlen=KEPT)
        self._waiting = 0
        self._number = 0
        self._counts = Counter[str]()
        self._paused = False
        self._looking = True
        self._typed_at = 0.0
        self._timer_set = False
        self._room = self.size
        self._columns: dict[str, int] = {}

    def compose(self) -> ComposeResult:
        yield Static(id="head", markup=False)
        yield Static(id="asked", markup=False)
        yield Static(id="off", markup=False)
        yield Input(self._query, placeholder="/ to filter: tool:Bash verdict:block since:2h any text", id="filter")
        yield Static(id="said", markup=False)
        yield Static(NOTHING, id="nothing", markup=False)
        yield Grid(cursor_type="row", zebra_stripes=True, id="list")
        yield Static(id="chosen", markup=False)
        yield Footer()

    def on_mount(self) -> None:
        self.set_focus(self.grid)
        loop = asyncio.get_running_loop()
        for number in END_SIGNALS:  # so that the terminal is restored
            try:
                loop.add_signal_handler(number, self.exit)
            except (ValueError, RuntimeError):  # not the main thread: the caller handles signals
                pass
        self._show_banner()
        self.set_interval(BANNER_S, self._show_banner)
        self._show_asked()
        self.set_interval(SHOW_S, self._show_asked)
        self._begin()

    def _show_asked(self) -> None:
        """Show the calls that wait for a person."""
        text = waiting_line(Approvals(self._folder).waiting())
        asked = self.screen_stack[0].query_one("#asked", Static)  # a record may be in front of it
        asked.update(text)
        asked.display = bool(text)

    @work(thread=True, exclusive=True, group="banner")
    def _show_banner(self) -> None:
        """Show which guards are off now; one may have been approved since."""
        try:
            self.call_from_thread(self._put_banner, self._banner())
        except Exception as error:  # noqa: BLE001 (the list goes on, and says what it does not know)
            self.call_from_thread(self._put_banner, f"whether guards are off cannot be told: {error}")

    def _put_banner(self, text: str) -> None:
        off = self.screen_stack[0].query_one("#off", Static)
        off.update(visible(text))
        off.display = bool(text)

    def on_resize(self, event: Resize) -> None:
        self._room = event.size  # the app's own size is still the old one
        if self._columns != (columns := columns_for(self._room.width)):
            self._columns = columns
            self._draw()
        self._tell()

    @property
    def grid(self) -> Grid:
        return self.query_one(Grid)

    def _begin(self) -> None:
        """Read the journal again with the current filter."""
        try:
            wanted = wanted_by(self._query)
        except BadCall as error:
            self._say(str(error))
            return
        self._say("")
        self._paused = False  # the new filter must not wait
        self._looking = True
        self._rows.clear()
        self._held.clear()
        self._waiting = 0
        self._counts.clear()
        self.grid.clear()
        self._tell()
        self._read(wanted)

    def _say(self, text: str) -> None:
        said = self.query_one("#said", Static)
        said.update(visible(text))
        said.display = bool(text)

    @work(thread=True, exclusive=True)
    def _read(self, wanted: Wanted) -> None:
        """Ends when another filter has started its own reader, or the program ends."""
        try:
            self._follow(wanted, get_current_worker())
        except OSError as error:
            self.call_from_thread(self._say, f"The journal cannot be read: {error}")

    def _follow(self, wanted: Wanted, worker: Worker[None]) -> None:
        fresh, counts, shown_at, looked = deque[Row](maxlen=KEPT), Counter[str](), 0.0, False
        for found in follow(self._folder, wanted, KEPT, lambda: worker.is_cancelled):
            if worker.is_cancelled:
                return
            if found is not None:
                row = row_of(found)
                fresh.append(row)
                counts.update(rows=1, events=row.events, block=row.refused, failed=row.failed)
            due = fresh and (found is None or time.monotonic() - shown_at >= SHOW_S)
            if due or (found is None and not looked):
                looked = looked or found is None
                self.call_from_thread(self._take, tuple(fresh), counts, worker, looked)
                fresh.clear()
                counts, shown_at = Counter(), time.monotonic()
            if found is None:
                time.sleep(LOOK_S)

    def _take(self, fresh: Sequence[Row], counts: Counter[str], worker: Worker[None], looked: bool = False) -> None:
        """`looked`: the existing records have been searched, and only new ones follow."""
        if worker.is_cancelled:
            return  # from an old filter
        self._looking = self._looking and not looked
        self._counts.update(counts)
        if self._paused:
            self._held.extend(fresh)
            self._waiting += counts["rows"]
        elif fresh:
            self._add(fresh)
        self._tell()

    def _add(self, batch: Sequence[Row]) -> None:
        at_end = self.grid.cursor_row >= self.grid.row_count - 1
        for row in batch:
            self._number += 1
            self._rows[str(self._number)] = row
        if len(self._rows) > KEPT + SLACK:
            self._let_go()
        else:
            for key, row in list(self._rows.items())[-len(batch) :]:
                self.grid.add_row(*self._cells(row), key=key)
        if at_end:
            self.action_newest()

    def _let_go(self) -> None:
        """Drop all but the newest rows."""
        chosen = self._chosen()
        self._rows = dict(list(self._rows.items())[-KEPT:])
        self._draw(chosen)

    def _draw(self, chosen: str | None = None) -> None:
        """Rebuild all rows; the cursor stays on its row, or on the oldest one left."""
        chosen = chosen or self._chosen()
        self.grid.clear(columns=True)
        for name, width in self._columns.items():
            self.grid.add_column(Text(name, justify="right" if name == "ms" else "left"), width=width, key=name)
        for key, row in self._rows.items():
            self.grid.add_row(*self._cells(row), key=key)
        if chosen in self._rows:
            self.grid.move_cursor(row=self.grid.get_row_index(chosen), animate=False)

    def _cells(self, row: Row) -> list[Text]:
        cells = cells_of(row)
        return [cells[name] for name in self._columns]

    def _chosen(self) -> str:
        if not self.grid.row_count:
            return ""
        return str(self.grid.coordinate_to_cell_key(self.grid.cursor_coordinate).row_key.value)

    def _tell(self) -> None:
        """Update the head line and the hints."""
        state = f"paused, {self._waiting:,} waiting" if self._paused else "looking" if self._looking else "live"
        head = Text.assemble(
            ("" if self._room.width < NARROW else "anyhook watch   ", "bold"),
            (f"● {state}", WARN if self._paused else GOOD),
            f"   {self._counts['events']:,} event{'' if self._counts['events'] == 1 else 's'}   ",
            (f"{self._counts['block']:,} blocked", BAD if self._counts["block"] else "dim"), "   ",
            (f"{self._counts['failed']:,} with a failure", WARN if self._counts["failed"] else "dim"),
        )  # fmt: skip
        self.query_one("#head", Static).update(head)
        nothing = self.query_one("#nothing", Static)
        nothing.update(LOOKING if self._looking else NOTHING_FITS if self._query.strip() else NOTHING)
        nothing.display = not self._rows
        self.grid.display = bool(self._rows)
        self.query_one("#chosen").display = bool(self._rows) and self._room.height >= TALL
        if self._rows and self.focused is None:
            self.set_focus(self.grid)

    @on(DataTable.RowHighlighted)
    def _tell_chosen(self) -> None:
        row = self._rows.get(self._chosen())
        told = Text(no_wrap=True, overflow="ellipsis")
        if row is not None:
            start = f"record {row.n}  {row.host}" if row.n is not None else "a record without a number"
            told = Text.assemble((f"{start}  ", "dim"), f"{row.what}  {row.about}\n", row.why)
            told.no_wrap, told.overflow = True, "ellipsis"
        self.query_one("#chosen", Static).update(told)

    @on(Input.Changed, "#filter")
    def _typed(self, event: Input.Changed) -> None:
        if event.value != self._query:
            self._typed_at = time.monotonic()
            if not self._timer_set:
                self._timer_set = True
                self.set_timer(TYPING_S, self._maybe_filter)

    def _maybe_filter(self) -> None:
        left = TYPING_S - (time.monotonic() - self._typed_at)
        if left > 0:
            self.set_timer(left, self._maybe_filter)
            return
        self._timer_set = False
        self._filter_now()

    def _filter_now(self) -> None:
        typed = self.query_one("#filter", Input).value
        if typed != self._query:
            self._query = typed
            self._begin()

    @on(Input.Submitted, "#filter")
    def _entered(self) -> None:
        self._filter_now()
        self.set_focus(self.grid)

    @on(DataTable.RowSelected)
    def action_in_full(self) -> None:
        row = self._rows.get(self._chosen())
        if row is None:
            return
        if row.n is None:
            self.push_screen(RecordScreen("a record without a number", [row.reason or "It cannot be looked up."]))
            return
        try:
            lines, _ = told_in_full(self._folder, row.n)
        except (LookupError, OSError) as error:
            lines = [str(error)]
        self.push_screen(RecordScreen(f"record {row.n}", lines))

    def action_filter(self) -> None:
        self.set_focus(self.query_one("#filter", Input))

    def action_leave_filter(self) -> None:
        self.query_one("#filter", Input).value = ""
        self._filter_now()
        self.set_focus(self.grid)

    def action_pause(self) -> None:
        self._paused = not self._paused
        if not self._paused:
            held = list(self._held)
            self._held.clear()
            self._waiting = 0
            if held:
                self._add(held)
        self._tell()

    def action_newest(self) -> None:
        self.grid.move_cursor(row=max(0, self.grid.row_count - 1), animate=False)


def columns_for(width: int) -> dict[str, int]:
    """The columns for a terminal of this width, and the width of each; each has a space on either side."""
    columns = {"time": 8, "from": 8, "verdict": 13, "ms": 7}
    if width < ROOMY:
        columns = {"time": 8, "verdict": 8, "ms": 6}
    if width < NARROW:
        columns = {"time": 8, "verdict": 8}
    left = width - sum(columns.values()) - 2 * len(columns) - 2  # two for the scroll bar
    if width < NARROW:
        return {**columns, "what": max(10, left - 2)}
    what = (left - 4) * 3 // 5  # the reason is also shown below the list
    return {**columns, "what": what, "why": left - 4 - what}


def cells_of(row: Row) -> dict[str, Text]:
    """Text objects, because a string would be read as markup."""
    base = "dim" if row.verdict == "none" and row.ms is None else ""
    took = "" if row.ms is None else f"{row.ms:,.0f}" if row.ms >= 10 else f"{row.ms:.1f}"
    style = STYLES.get(row.verdict, WARN if row.failed else "dim")
    if row.shadow and row.verdict == "block":
        style = WARN
    cells = {
        "time": Text(short_time(row.at), "dim"),
        "from": Text(row.host, base),
        "verdict": Text(row.said, style),
        "ms": Text(took, base, justify="right"),
        "what": Text.assemble((row.about or row.what, base), (f"  {row.what}" if row.about else "", "dim")),
        "why": Text.assemble((row.reason, ""), (f"  {row.hook}" if row.reason else row.hook, "dim")),
    }
    for cell in cells.values():
        cell.no_wrap, cell.overflow = True, "ellipsis"
    return cells
