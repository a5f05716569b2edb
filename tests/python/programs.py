# SPDX-License-Identifier: Apache-2.0
"""Tests whole programs: their start, end and errors. Run by pytest, in a process without MPI."""

import json
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import netCDF4
import numpy as np
import pytest
import xarray as xr

LAUNCHER = os.environ.get("THALWEG_TEST_LAUNCHER", "").split(";")
HERE = Path(__file__).parent
EXAMPLES = HERE.parents[1] / "examples/python"


def run(folder, text, *arguments, ranks=0, environment=None):
    """Runs a program on a number of ranks; 0: without mpirun. It must end in time."""
    program = folder / "program.py"
    program.write_text(textwrap.dedent(text))
    return launch(folder, program, *arguments, ranks=ranks, environment=environment)


def launch(folder, *command, ranks=0, environment=None):
    launcher = [*LAUNCHER, str(ranks)] if ranks else []
    with subprocess.Popen(
        [*launcher, sys.executable, *command],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **(environment or {})},
        stdin=subprocess.DEVNULL,
    ) as process:
        return finished(process, alone_for=20 if ranks else 120)


def finished(process, alone_for):
    """Waits for a process. Open MPI 4.1's launcher may wait forever when all of its processes
    have ended with errors (in PMIx_server_finalize); it is then killed. A launcher that has
    processes gets 120 s."""
    alone = 0
    for _ in range(120):
        try:
            output, errors = process.communicate(timeout=1)
            return subprocess.CompletedProcess(process.args, process.returncode, output, errors)
        except subprocess.TimeoutExpired:
            tasks = Path(f"/proc/{process.pid}/task").glob("*/children")
            alone = 0 if any(children.read_text() for children in tasks) else alone + 1
        if alone == alone_for:
            break
    process.kill()
    output, errors = process.communicate()
    if alone < alone_for or alone_for == 120:
        raise subprocess.TimeoutExpired(process.args, 120, output, errors)
    return subprocess.CompletedProcess(process.args, 1, output, errors)


def ok(result):
    assert result.returncode == 0, result.stdout + result.stderr
    return result


WITHOUT_MPI4PY = """
    import sys
    sys.modules["mpi4py"] = sys.modules["mpi4py.MPI"] = None
    del sys.modules["mpi4py.MPI"]
"""


def test_without_mpi4py(tmp_path):
    """Tests one process: a file that is still open when the program ends is completed."""
    ok(
        run(
            tmp_path,
            WITHOUT_MPI4PY
            + """
    import numpy as np, thalweg as tw
    io = tw.Session(service="background")
    assert (io.rank, io.size, io.comm) == (0, 1, None)
    cells = io.decompose(y=4)
    f = io.create("a.nc")
    f.define("T", "f4", "time y", cells)
    for step in range(3):
        f["T"] = np.arange(4) + step
        f.end_step()
    with io.create("b.nc") as g:
        g.define("x", "i4")
        g["x"] = 1
    with io.open("b.nc") as g:
        assert g.get("x") == 1
    """,
        )
    )
    with netCDF4.Dataset(tmp_path / "a.nc") as f:
        assert np.array_equal(f["T"][:], np.arange(4) + np.arange(3)[:, None])


def test_failed_alone(tmp_path):
    """Tests that a file which is open when an exception ends the program is not completed."""
    result = run(
        tmp_path,
        WITHOUT_MPI4PY
        + """
    import thalweg as tw
    io = tw.Session()
    f = io.create("a.nc")
    f.define("x", "i4")
    raise ValueError("the model failed")
    """,
    )
    assert result.returncode == 1 and "the model failed" in result.stderr
    assert not (tmp_path / "a.nc").exists()


@pytest.mark.parametrize("order", ["netCDF4 thalweg", "thalweg netCDF4"])
def test_beside_netcdf4(tmp_path, order):
    """Tests two HDF5 libraries in one process, each with an open netCDF-4 file."""
    ok(
        run(
            tmp_path,
            f"""
    import sys, numpy as np
    for name in {order.split()!r}:
        __import__(name)
        if name == "thalweg":
            import thalweg as tw
            tw.Session().finalize()
    import netCDF4
    with tw.Session() as io:
        other = netCDF4.Dataset("b.nc", "w")
        other.createDimension("y", 1000)
        v = other.createVariable("T", "f8", ("y",), zlib=True)
        with io.create("a.nc", format="netcdf4", deflate=1) as f:
            f.define("T", "f8", "time y", io.decompose(y=1000))
            for step in range(3):
                f["T"] = np.arange(1000.0)
                f.end_step()
                v[:] = np.arange(1000.0)
        other.close()
        with netCDF4.Dataset("a.nc") as theirs, io.open("b.nc") as ours:
            assert np.array_equal(theirs["T"][2], ours.get("T"))
    """,
        )
    )


def test_another_mpi_is_loaded(tmp_path):
    """Tests mpi4py with MPICH, which loads libmpi.so.12."""
    some_library = next(Path(np.__file__).parent.glob("random/_common*.so"))
    shutil.copy(some_library, tmp_path / "libmpi.so.12")
    result = run(
        tmp_path,
        """
    import ctypes, thalweg as tw
    library = ctypes.CDLL("./libmpi.so.12", mode=1)
    tw.Session()
    """,
    )
    assert result.returncode == 1
    assert "ImportError" in result.stderr and "libmpi.so.12" in result.stderr


def test_started_by_mpirun_but_without_a_communicator(tmp_path):
    result = run(tmp_path, WITHOUT_MPI4PY + "\n    import thalweg as tw; tw.Session()", ranks=2)
    assert result.returncode != 0 and "MPI.COMM_WORLD" in result.stderr


MODEL = """
    from mpi4py import MPI
    import sys, numpy as np, thalweg as tw
    def steps(io):
        cells = io.split(y=8, x=4)
        with io.create("e.nc", service=sys.argv[2]) as f:
            f.define("T", "f4", "time y x", cells)
            for step in range(5):
                f["T"] = np.zeros(cells.array_shape())
                if step == 3 and sys.argv[1] == "all": raise tw.Error(-2, "the model failed")
                if step == 3 and io.rank == io.size - 1:
                    if sys.argv[1] in ("raise", "no with"): raise ValueError("the model failed")
                    if sys.argv[1] == "exit": sys.exit(3)
                    if sys.argv[1] == "interrupt": raise KeyboardInterrupt
                f.end_step()
                f.sync()
    if sys.argv[1] == "all":
        try:
            with tw.Session(MPI.COMM_WORLD) as io:
                steps(io)
        except tw.Error as problem:
            print(problem, flush=True)
        if MPI.COMM_WORLD.rank == 0: __import__("time").sleep(7)
        print("ended", flush=True)
    elif sys.argv[1] == "no with":
        steps(tw.Session(MPI.COMM_WORLD))
    else:
        with tw.Session(MPI.COMM_WORLD) as io:
            steps(io)
"""


@pytest.mark.parametrize(
    ("kind", "service"),
    [("raise", "inline"), ("exit", "background"), ("interrupt", "inline"), ("no with", "inline")],
)
def test_one_rank_leaves(tmp_path, kind, service):
    """Tests one rank that leaves while the others wait for it in end_step or sync: the program
    ends, and three records are in the file."""
    result = run(tmp_path, MODEL, kind, service, ranks=3)
    assert result.returncode != 0
    expected = {
        "raise": "ValueError: the model failed",
        "exit": "rank 2 has cancelled the session: SystemExit: 3",
        "interrupt": "KeyboardInterrupt",
        "no with": "ValueError: the model failed",
    }
    assert expected[kind] in result.stderr + result.stdout
    three_records(tmp_path)


def three_records(folder):
    assert not (folder / "e.nc").exists()
    ok(run(folder, "import thalweg as tw; tw.recover('e.nc')"))
    with netCDF4.Dataset(folder / "e.nc") as f:
        assert f["T"].shape == (3, 8, 4)


@pytest.mark.parametrize("service", ["inline", "background"])
@pytest.mark.parametrize("packing", [{}, {"deflate": "1"}])
def test_script_that_simply_ends(tmp_path, service, packing):
    """Tests a script without close or finalize: the program ends, and the steps that end_step
    has accepted are in the file."""
    text = """
        from mpi4py import MPI
        import numpy as np, thalweg as tw
        io = tw.Session(MPI.COMM_WORLD, service="%s", format="netcdf4", **%r)
        cells = io.split(y=8, x=4)
        f = io.create("e.nc")
        f.define("T", "f4", "time y x", cells)
        for step in range(30):
            f["T"] = np.full(cells.array_shape(), step)
            f.end_step()
    """
    ok(run(tmp_path, text % (service, packing), ranks=2))
    ok(run(tmp_path, "import thalweg as tw; tw.recover('e.nc')"))
    with netCDF4.Dataset(tmp_path / "e.nc") as f:
        assert (f["T"][:] == np.arange(30)[:, None, None]).all()


def test_tiles_beside_a_file(tmp_path):
    """Tests the warning that a file hides a set of tiles of the same name."""
    text = """
        from mpi4py import MPI
        import thalweg as tw
        with tw.Session(MPI.COMM_WORLD, tiles="1x1", writers=1) as io:
            cells = io.split(y=8, x=4)
            for name in ("alone.nc", "tiles.nc"):
                with io.create(name, method="tiles", files="tiles") as f:
                    f.define("T", "f4", "y x", cells)
    """
    (tmp_path / "tiles.nc").write_bytes(b"")
    result = ok(run(tmp_path, text, ranks=2))
    assert result.stderr.count("tiles.nc: a file of this name exists, and tw_open") == 1
    assert "alone.nc" not in result.stderr


def test_one_rank_leaves_and_the_others_wait_for_it_elsewhere(tmp_path):
    """Tests one rank that leaves while the others make no call of the session: all processes
    end."""
    result = run(
        tmp_path,
        """
    from mpi4py import MPI
    import thalweg as tw
    with tw.Session(MPI.COMM_WORLD) as io:
        if io.rank == 1: raise ValueError("the model failed")
        MPI.COMM_WORLD.recv(source=1)
    """,
        ranks=3,
    )
    assert result.returncode != 0
    assert "ValueError: the model failed" in result.stderr
    assert "rank 1 out of its session" in result.stderr


ANYWHERE = """
    from mpi4py import MPI
    import os, signal, sys, numpy as np, thalweg as tw
    where, service = sys.argv[1:]
    model = None
    def here(place):
        if place == where and model.rank == 1:
            if where == "interrupt": os.kill(os.getpid(), signal.SIGINT)
            else: raise ValueError("the model failed")
    def run():
        global model
        settings = {"servers": 1} if service == "servers" else {}
        with tw.Session(MPI.COMM_WORLD, queue="64KiB", **settings) as io:
            if io.is_server: return
            model = io.comm.Dup()
            cells = io.split(y=90, x=40)
            here("create")
            with io.create("e.nc", service=service) as f:
                here("define")
                f.define("T", "f8", "time y x", cells)
                for step in range(40):
                    if step == 3:
                        here("step")
                        here("interrupt")
                    f["T"] = np.zeros(cells.array_shape())
                    if step == 5: here("put")
                    f.end_step()
                here("end")
            here("closed")
    problem = None
    try:
        run()
    except (tw.Error, ValueError, KeyboardInterrupt) as found:
        problem = found
    if model:
        print(*model.gather(repr(problem)) or [], sep="\\n", flush=True)
        print(*model.gather(getattr(problem, "name", "")) or [], flush=True)
"""


@pytest.mark.parametrize("service", ["inline", "background", "servers"])
@pytest.mark.parametrize("where", ["create", "define", "step", "interrupt", "put", "end", "closed"])
def test_one_rank_leaves_anywhere(tmp_path, where, service):
    """Tests one rank that leaves at any point: all ranks leave, even those that are ahead by as
    many steps as the queue holds."""
    result = ok(run(tmp_path, ANYWHERE, where, service, ranks=4 if service == "servers" else 3))
    assert result.stdout.count("TW_ECANCELED") == 2, result.stdout + result.stderr
    assert result.stdout.count("rank 1 has cancelled the session") == 2
    assert "leaked" not in result.stderr
    assert not list(tmp_path.glob("*.lock"))


def test_all_ranks_leave(tmp_path):
    """Tests that all ranks leave: each catches the exception, and one of them continues for
    longer than the others."""
    result = ok(run(tmp_path, MODEL, "all", "inline", ranks=3))
    assert result.stdout.count("ended") == 3


def test_interrupt_and_threads(tmp_path):
    """Tests that Ctrl-C takes effect when a long call returns, and that other threads run
    meanwhile."""
    result = run(
        tmp_path,
        """
    import os, signal, threading, time, numpy as np, thalweg as tw
    ticks = 0
    def tick():
        global ticks
        while True:
            ticks += 1
            time.sleep(0.01)
    threading.Thread(target=tick, daemon=True).start()
    interrupt = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    try:
        with tw.Session() as io, io.create("slow.nc", bandwidth="4MiB") as f:
            f.define("T", "f8", "time y", io.decompose(y=1 << 19))
            for step in range(2):
                f["T"] = np.zeros(1 << 19)
                before = ticks
                if step == 0:
                    interrupt.start()
                f.end_step()
                f.sync()
    except KeyboardInterrupt:
        print("interrupted", ticks - before)
    with tw.Session() as io, io.create("slow.nc") as f:
        f.define("x", "i4")
        f["x"] = 1
    """,
    )
    ok(result)
    word, ticks = result.stdout.split()
    assert word == "interrupted" and int(ticks) > 10


def test_hello(tmp_path):
    ok(launch(tmp_path, EXAMPLES / "hello.py", ranks=2))
    with netCDF4.Dataset(tmp_path / "hello.nc") as f:
        assert np.array_equal(f["T"][:, 0, 0, 0], [1, 2, 3])
    ok(launch(tmp_path, EXAMPLES / "dataset.py", ranks=3))
    with netCDF4.Dataset(tmp_path / "mean.nc") as f:
        assert f["T"].shape == (3, 6, 8) and (f["T"][2] == 3).all()
        assert f["T"].units == "K"


def test_shallow_water(tmp_path):
    """Tests that the example writes the same file on any number of ranks, also if it continues
    from a restart."""
    program = EXAMPLES / "shallow_water.py"
    for ranks, options in (
        (0, "--steps 60 --output one.nc"),
        (3, "--steps 40 --output first.nc"),
        (2, "--restart restart.nc --steps 60 --output rest.nc"),
    ):
        ok(launch(tmp_path, program, *options.split(), ranks=ranks))
    with (
        netCDF4.Dataset(tmp_path / "one.nc") as one,
        netCDF4.Dataset(tmp_path / "first.nc") as first,
        netCDF4.Dataset(tmp_path / "rest.nc") as rest,
    ):
        assert one["h"].shape == (3, 32, 64)
        assert 0.1 < abs(one["h"][2]).max() < 1
        for name in ("h", "u", "v", "time"):
            both = np.concatenate([first[name][:], rest[name][:]])
            assert np.array_equal(one[name][:], both)


def test_notebook(tmp_path):
    """Runs the cells of the notebook, one after another, without a display."""
    cells = json.loads((EXAMPLES / "channel.ipynb").read_text())["cells"]
    code = "\n\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "code")
    result = run(
        tmp_path,
        f"import sys; sys.path.insert(0, {str(EXAMPLES)!r})\n" + code,
        environment={"MPLBACKEND": "agg"},
    )
    ok(result)
    assert "step 240" in result.stdout
    assert (tmp_path / "channel.png").stat().st_size > 10_000


KILLED = """
    from mpi4py import MPI
    import os, pathlib, signal, sys, threading, time, numpy as np, thalweg as tw
    service, packing, victim, after = sys.argv[1:]
    counted = pathlib.Path("counted")
    def kill():
        while not counted.exists(): time.sleep(0.01)
        time.sleep(float(after))
        os.kill(os.getpid(), signal.SIGKILL)
    if MPI.COMM_WORLD.rank == int(victim): threading.Thread(target=kill, daemon=True).start()
    with tw.Session(MPI.COMM_WORLD, servers=int(service == "servers")) as io:
        if not io.is_server:
            cells = io.split(y=90, x=40)
            keys = dict(word.split("=", 1) for word in packing.split())
            with io.create("store", format="zarr", service=service, **keys) as f:
                f.define("T", "f8", "time y x", cells)
                f.define("Y", "f4", "y x", cells)
                f.define("time", "f8", "time")
                f["Y"] = np.full(cells.array_shape(), 7, "f4")
                for step in range(10**6):
                    f["T"] = np.full(cells.array_shape(), step + 0.5)
                    f["time"] = float(step)
                    f.end_step()
                    if step % 4 == 3:
                        f.sync()
                        if io.rank == 0:
                            with counted.open("a") as file: file.write(f"{step + 1}\\n")
"""


@pytest.mark.parametrize(
    ("service", "packing"),
    [
        ("inline", ""),
        ("inline", "checksums=yes deflate=1"),
        ("background", "zstd=1 chunks=y=7"),
        ("servers", "zstd=1 chunks=y=7"),
    ],
)
def test_killed_store(tmp_path, service, packing):
    """Tests that a Zarr store of a run that is killed at any time, at any rank, has all counted
    records before and after it is recovered, and that the next run continues it."""
    random = np.random.default_rng([len(service), len(packing)])
    victim, after = int(random.integers(4)), float(random.uniform(0, 0.3))
    result = run(tmp_path, KILLED, service, packing, str(victim), str(after), ranks=4)
    assert result.returncode != 0 and (tmp_path / "counted").exists(), result.stderr
    counted = int((tmp_path / "counted").read_text().split()[-1])

    def check(path, consolidated):
        with xr.open_zarr(path, consolidated=consolidated, decode_times=False) as data:
            n = data.sizes["time"]
            assert n >= counted and data["time"].values.tolist() == list(range(n))
            assert (data["T"].values == (np.arange(n) + 0.5)[:, None, None]).all()
            assert (data["Y"].values == 7).all()
        return n

    n = check(tmp_path / "store.part", True)
    recover = "import thalweg as tw; print(tw.recover('store'))"
    for words in (f"{n} records recovered\n", f"{n} records, already complete\n"):
        result = ok(run(tmp_path, recover))
        assert result.stdout.endswith(words), result.stdout
        assert check(tmp_path / "store", False) == n
    assert not list((tmp_path / "store").rglob("*.part"))
