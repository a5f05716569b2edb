# SPDX-License-Identifier: Apache-2.0
"""How sessions end with the interpreter.

When an exception ends the program on one rank only, the others wait for it forever: in calls of
the session, or in the model's own messages. So a process that ends with an exception that nothing
caught, while it has a session of several ranks or has left one, ends the other processes, too.
"""

from __future__ import annotations

import atexit
import os
import sys
import time
from typing import TYPE_CHECKING

from ._load import core

if TYPE_CHECKING:
    from ._session import Session

# How long a rank that an exception took out of its session waits for the others to leave it, too:
# when it leaves, because the same exception may be on its way on all ranks, and when it ends.
LEAVE_SECONDS = 1.0
END_SECONDS = 5.0

_open: list[Session] = []
_left: list[Session] = []
_process = 0  # in which the handlers were installed: they do nothing in one that it forked
_started_mpi = False
_failed = False


def began(session: Session, started_mpi: bool) -> None:
    global _process, _started_mpi
    _started_mpi = _started_mpi or started_mpi
    _open.append(session)
    if not _process:
        _process = os.getpid()
        atexit.register(_end)
        _install_hook()


def ended(session: Session) -> None:
    if session in _open:
        _open.remove(session)


def left(session: Session) -> None:
    """An exception took this rank out of the session, maybe without the others."""
    ended(session)
    if session.size > 1 and not _all_left(session, LEAVE_SECONDS):
        _left.append(session)


def _install_hook() -> None:
    previous = sys.excepthook

    def hook(kind, value, traceback):
        global _failed
        _failed = True
        previous(kind, value, traceback)
        if os.getpid() != _process:
            return
        for session in [*_left, *_open]:
            if session.size > 1:
                sys.stdout.flush()
                sys.stderr.flush()
                session._core.abort(1)

    sys.excepthook = hook


def _end() -> None:
    if os.getpid() != _process:
        return
    for session in _left:
        if not _all_left(session, END_SECONDS):
            print(
                f"thalweg: an exception took rank {session.rank} out of its session, others are "
                "still in it, and this rank ends: ending all processes",
                file=sys.stderr,
                flush=True,
            )
            session._core.abort(1)
    for session in list(_open):
        # Of several ranks: MPI_Finalize tells the library, on all ranks at once.
        if session.size == 1 and core().mpi_is_running():
            _end_alone(session)
    if _started_mpi:
        core().finalize_mpi()


def _end_alone(session: Session) -> None:
    if _failed:
        session.abandon()
        return
    try:
        session.finalize()
    except Exception as problem:
        print(f"thalweg: {problem}", file=sys.stderr)


def _all_left(session: Session, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not session._core.meet():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.005)
    return True
