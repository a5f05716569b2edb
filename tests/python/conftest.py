# SPDX-License-Identifier: Apache-2.0
"""Every rank runs every test. A test that fails on one rank fails on all."""

import faulthandler
import os
import shutil
import tempfile
from pathlib import Path

import pytest
from mpi4py import MPI

WORLD = MPI.COMM_WORLD
# Prints the place of each rank if a test hangs; pytest runs with --capture=sys, which leaves
# descriptor 2.
LIMIT = float(os.environ.get("THALWEG_TEST_LIMIT", "100"))
faulthandler.dump_traceback_later(LIMIT, exit=True, file=2)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    if report.when != "call":
        return
    failed = WORLD.allgather(report.failed)
    if any(failed) and not report.failed:
        report.outcome = "failed"
        report.longrepr = f"failed on rank {failed.index(True)}"


def pytest_unconfigure():
    faulthandler.cancel_dump_traceback_later()


@pytest.fixture
def comm():
    return WORLD


@pytest.fixture
def folder():
    """Returns a folder that all ranks share."""
    path = Path(WORLD.bcast(tempfile.mkdtemp(dir=".") if WORLD.rank == 0 else None)).absolute()
    yield path
    WORLD.Barrier()
    if WORLD.rank == 0:
        shutil.rmtree(path)


@pytest.fixture
def io():
    import thalweg as tw

    session = tw.Session(WORLD)
    yield session
    session.finalize()
