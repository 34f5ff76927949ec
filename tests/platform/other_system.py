"""Stands in for a system that is not POSIX, in a real process: `python other_system.py -m anyhook …`. The standard
library is loaded first, because its own modules differ there too. Then what only POSIX has is hidden."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import asyncio
import multiprocessing.connection
import os
import posix
import runpy
import select
import signal
import subprocess
import sys
import time

MODULES = {"fcntl", "pwd", "grp", "resource", "termios", "pty", "tty", "readline", "syslog", "_posixsubprocess"}
FUNCTIONS = """
    O_CLOEXEC O_DIRECTORY O_NOCTTY O_NOFOLLOW O_NONBLOCK P_PID WEXITED WNOHANG WNOWAIT chown chroot confstr ctermid
    fchdir fchmod fchown fork forkpty getegid geteuid getgid getgroups getloadavg getpgid getpgrp getpriority getsid
    getuid killpg lchown lockf mkfifo mknod nice openpty pidfd_open posix_spawn posix_spawnp pread pwrite readv
    register_at_fork sched_getaffinity sendfile setpgid setsid statvfs sync sysconf tcgetpgrp ttyname uname wait3 wait4
    waitid writev
"""
SIGNALS = "SIGALRM SIGCHLD SIGCONT SIGHUP SIGKILL SIGPIPE SIGQUIT SIGSTOP SIGTSTP SIGUSR1 SIGUSR2 SIGWINCH alarm"
LOADED = (asyncio, multiprocessing.connection)


class Hidden:
    def find_spec(self, name: str, *_: object) -> None:
        if name in MODULES:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def no_process(*_: object) -> int:
    raise OSError(38, "this system starts processes in another way")


def hide() -> None:
    subprocess._fork_exec = no_process  # type: ignore[attr-defined]
    for name in MODULES:
        sys.modules.pop(name, None)
    sys.meta_path.insert(0, Hidden())
    for names, modules in (
        (FUNCTIONS, (os, posix)),
        (SIGNALS, (signal, _signal)),
        ("poll epoll POLLIN POLLOUT POLLHUP POLLERR POLLNVAL PIPE_BUF", (select,)),
        ("CLOCK_BOOTTIME clock_gettime", (time,)),
    ):
        for name in names.split():
            for module in modules:
                if hasattr(module, name):
                    delattr(module, name)


if __name__ == "__main__":
    sys.path.pop(0)
    sys.argv = sys.argv[2:]
    hide()
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
