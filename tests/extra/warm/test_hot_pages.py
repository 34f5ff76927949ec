"""The memory pages that workers copy in advance: pages that the first calls copied, later workers copy before their
call."""

from __future__ import annotations

import subprocess
import sys

import pytest

LEARNING = """
import ctypes, os, resource
from anyhook.extra.warm.hot_pages import LESSONS, PAGE, HotPages

PAGES = 200
memory = bytearray(PAGES * PAGE)
for page in range(PAGES):
    memory[page * PAGE] = 1
address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
hot = HotPages([(address // PAGE + 1, address // PAGE + 2)])


def worker(teaches):
    "Returns how many pages it copied during its call."
    reading, writing = os.pipe()
    if os.fork() == 0:
        hot.copy(teaches)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        for page in range(PAGES):
            memory[page * PAGE] = 2
        copied = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
        if hot.teaches:
            hot.teach()
        os.write(writing, str(copied).encode())
        os._exit(0)
    os.wait()
    hot.learn()
    return int(os.read(reading, 100))


assert worker(False) > PAGES - 10, "nothing is known yet"
assert hot.lessons_left == LESSONS, "it did not teach"
assert worker(True) > PAGES - 10
assert hot.lessons_left == LESSONS - 1
assert worker(False) < 10, "its pages were copied in advance"
hot.learn()
assert hot.lessons_left == LESSONS - 1, "a lesson counts once"
"""


@pytest.mark.skipif(sys.platform != "linux", reason="pages are reported by Linux")
def test_later_workers_copy_in_advance_what_a_first_one_has_copied() -> None:
    subprocess.run([sys.executable, "-c", LEARNING], check=True)
