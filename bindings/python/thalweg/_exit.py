# SPDX-License-Identifier: Apache-2.0
"""How sessions end with the interpreter, or with an exception.

When an exception takes one rank out of its session, the others would wait for it forever: in calls
of the session, or in the model's own messages. So the session is cancelled: the others get an
exception from the call that they are in or make next. If they make none for a while, all processes
end. So they do if nothing catches the exception.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
import time
import traceback
from typing import Any

from ._load import core

# Seconds that a rank which an exception took out of its session waits for a call of the others.
CANCEL_SECONDS = 10.0
# Seconds that the other ranks give that rank to say why the program ends.
TELL_SECONDS = 1.0

_open: list[Any] = []
_left: list[Any] = []
_process = 0  # process in which the handlers were installed: they do nothing in a forked one
_started_mpi = False
_failed = False


def began(session: Any, started_mpi: bool) -> None:
    global _process, _started_mpi
    _started_mpi = _started_mpi or started_mpi
    _open.append(session)
    if not _process:
        _process = os.getpid()
        atexit.register(_end)
        _install_hook()


def ended(session: Any) -> None:
    if session in _open:
        _open.remove(session)


def cancel(session: Any, problem: BaseException) -> None:
    """Takes the other ranks out of the session, because an exception takes this one out."""
    why = traceback.format_exception_only(problem)[-1].strip()
    timer = threading.Timer(CANCEL_SECONDS, _end_all, (session, problem))
    timer.daemon = True
    if session.size > 1:
        timer.start()
        _left.append(session)
    try:
        session._core.cancel(why[:1000].replace("\0", ""))
    finally:
        timer.cancel()
        if timer.is_alive():
            timer.join()  # the thread holds the session


def _end_all(session: Any, problem: BaseException) -> None:
    traceback.print_exception(problem)
    print(
        f"thalweg: an exception took rank {session.rank} out of its session, and other ranks made "
        f"no call of the session for {CANCEL_SECONDS:.0f} s: ending all processes",
        file=sys.stderr,
    )
    sys.stderr.flush()
    session._core.abort(1)


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
                if getattr(value, "name", "") == "TW_ECANCELED":
                    time.sleep(TELL_SECONDS)
                sys.stdout.flush()
                sys.stderr.flush()
                session._core.abort(1)

    sys.excepthook = hook


def _end() -> None:
    _left.clear()
    if os.getpid() != _process:
        return
    for session in list(_open):
        # With several ranks, MPI_Finalize informs the library, on all ranks at once.
        if session.size == 1 and not core().mpi_is_over():
            _end_alone(session)
    if _started_mpi:
        core().finalize_mpi()


def _end_alone(session: Any) -> None:
    if _failed:
        session.abandon()
        return
    try:
        session.finalize()
    except Exception as problem:
        print(f"thalweg: {problem}", file=sys.stderr)
