# SPDX-License-Identifier: Apache-2.0
"""Tests mistakes of a program: the errors on all ranks, and that the program can continue."""

import copy
import pickle
import re
from pathlib import Path

import numpy as np
import pytest
import thalweg as tw
from helpers import WORLD, as_netcdf4, fails
from mpi4py import MPI
from test_devices import OnDevice, package
from thalweg._keywords import FILE_SETTINGS


@pytest.fixture
def file(io, folder):
    cells = io.split(y=8, x=3)
    with io.create(folder / "w.nc") as f:
        f.define("T", "f4", "time y x", cells)
        f.cells = cells
        f.enddef()
        yield f
        f["T"] = np.zeros(cells.array_shape())
        f.end_step()
    assert as_netcdf4(folder / "w.nc", "T").shape[1:] == (8, 3)


def torch_zeros(n, dtype="float", **more):
    torch = package("torch")
    return torch.zeros((n, 3), dtype=getattr(torch, dtype), **more)


BAD_ARRAYS = {
    "complex": (lambda n: np.zeros((n, 3), "c16"), "TW_ETYPE", "real and the imaginary"),
    "times": (lambda n: np.zeros((n, 3), "M8[s]"), "TW_ETYPE", "units"),
    "text": (lambda n: np.zeros((n, 3), "U3"), "TW_ETYPE", "S1"),
    "objects": (lambda n: np.array([[{}] * 3] * max(n, 1)), "TW_ETYPE", "object"),
    "ragged": (lambda n: [[1, 2], [3]], "TW_EARG", "array"),
    "nothing": (lambda n: None, "TW_EARG", "expected an array"),
    "a string": (lambda n: "T", "TW_EARG", "expected an array"),
    "on a GPU": (lambda n: OnDevice(np.zeros((n, 3))), "TW_EARG", "float64"),
    "jax, bfloat16": (lambda n: package("jax.numpy").zeros((n, 3), "bfloat16"), "TW_ETYPE", "'f4'"),
    "bfloat16": (lambda n: torch_zeros(n, dtype="bfloat16"), "TW_EARG", "bfloat16"),
    "negated": (lambda n: torch_zeros(n, dtype="cfloat").conj().imag, "TW_EARG", "negative"),
    "gradient": (lambda n: torch_zeros(n, requires_grad=True), "TW_EARG", "detach"),
    "no memory": (lambda n: torch_zeros(n, device="meta"), "TW_EARG", "meta"),
    "longdouble": (lambda n: np.zeros((n, 3), np.longdouble), "TW_ETYPE", "f8"),
}


@pytest.mark.parametrize("kind", BAD_ARRAYS)
def test_arrays_that_cannot_be_put(file, kind):
    make, name, text = BAD_ARRAYS[kind]
    n = file.cells.array_shape()[0]
    error = fails(name, lambda: file.put("T", make(n)), everywhere=False)
    assert text in str(error) and (error.file, error.variable) == (file.path, "T")


def test_shapes_that_do_not_fit(file):
    n, m = file.cells.array_shape()
    for shape in [(n + 1, m), (m, n + 1), (n * m + 1,), (2, n, m), (1, 1, 1, n)]:
        error = fails("TW_ESHAPE", lambda s=shape: file.put("T", np.zeros(s)), everywhere=False)
        assert error.variable == "T" and error.rank == WORLD.rank
    fails("TW_ENOTFOUND", lambda: file.put("U", np.zeros((n, m))), everywhere=False)
    fails("TW_ESHAPE", lambda: file.put_box("T", np.zeros((2, 2)), (0,)), everywhere=False)
    fails("TW_EBOUNDS", lambda: file.put_box("T", np.zeros((1, 9)), (0, 0, 0)), everywhere=False)
    with pytest.raises(TypeError):
        file.put_record("T", np.zeros((n, m)), 1.5)


def test_values_that_do_not_fit(file):
    file["T"] = np.full(file.cells.array_shape(), 1e300)
    error = fails("TW_ERANGE", file.end_step)
    assert error.variable == "T"


def test_put_on_some_ranks_only(file):
    if WORLD.size == 1:
        pytest.skip("needs two ranks")
    if WORLD.rank != 1:
        file["T"] = np.zeros(file.cells.array_shape())
    error = fails("TW_EMISSING", file.end_step)
    assert (error.variable, error.rank, error.record) == ("T", 1, 0)


def test_one_rank_gets_it_wrong(io, folder):
    """Tests mistakes of one rank in collective calls: the error is raised on all ranks, and the
    next call works."""
    wrong = WORLD.rank == WORLD.size - 1
    calls = [
        lambda: io.create(3 if wrong else folder / "x.nc"),
        lambda: io.create(folder / "x.nc", fromat="cdf5" if wrong else None),
        lambda: io.create(folder / "x.nc", method="a;b" if wrong else "slabs"),
        lambda: io.create(folder / "x.nc", attrs={"title": None if wrong else "x"}),
        lambda: io.create(folder / "x.nc", attrs={"a/b" if wrong else "b": 1}),
        lambda: io.open("zero\0byte" if wrong else folder / "x.nc"),
        lambda: io.create("surrogate\udcff" if wrong else folder / "x.nc"),
        lambda: io.open(folder / "x.nc", "w" if wrong else "r"),
        lambda: io.decompose(y=4, start="a" if wrong else (0,), count=(4,)),
        lambda: io.decompose(y=4, start=(0, 0) if wrong else (0,), count=(4,)),
        lambda: io.decompose(y="four" if wrong else 4),
        lambda: io.decompose_list(y=4, listed="y", indices=[0.5] if wrong else []),
        lambda: io.restart(durable="a;b" if wrong else "yes"),
        lambda: io.wait("all" if wrong else 0),
    ]
    for number, call in enumerate(calls):
        try:
            call()
            raised = None
        except (tw.Error, TypeError, ValueError) as problem:
            raised = problem
        assert all(WORLD.allgather(raised is not None)), number
    cells = io.split(y=4)
    with pytest.raises(tw.Error):
        cells.fill_halo("round" if wrong else "keep")
    with pytest.raises(tw.Error):
        cells.pad((1, 2) if wrong else (4,), 1)
    with io.create(folder / "y.nc") as f:
        f.define("T", "f4", "y", cells)
        f["T"] = np.ones(cells.array_shape())
    with io.open(folder / "y.nc") as f:
        for bad in (
            lambda: f.get("T", cells, out=np.zeros(3, "c8") if wrong else None),
            lambda: f.get("T", cells, out=[1] if wrong else None),
            lambda: f.get("U" if wrong else "T", cells),
            lambda: f.get(7 if wrong else "T", cells),
            lambda: f.get("T", cells, dtype="M8[s]" if wrong else None),
            lambda: f.get_box("T", [0], [99] if wrong else [1]),
            lambda: f.get_box("T", [0, 0] if wrong else [0], [1]),
            lambda: f["T"]["a" if wrong else 0],
            lambda: f["T"][99 if wrong else 0],
            lambda: f["T"][True if wrong else 0],
            lambda: f.get("T", cells, record="first" if wrong else 0),
            lambda: f.get("T", cells, record=0.5 if wrong else 0),
        ):
            with pytest.raises((tw.Error, TypeError)):
                bad()
        assert (f.get("T", cells) == 1).all()


def test_ranks_in_different_calls(io, folder):
    if WORLD.size == 1:
        pytest.skip("needs two ranks")
    call = (lambda: io.create(folder / "a.nc")) if WORLD.rank else io.summary
    error = fails("TW_EMISMATCH", call)
    assert "different calls" in str(error)


def test_files(io, folder):
    fails("TW_EIO", lambda: io.open(folder / "none.nc"))
    fails("TW_EIO", lambda: io.create(folder / "no" / "such" / "folder.nc"))
    fails("TW_ESETTING", lambda: io.create(folder / "a.nc", format="hdf7"))
    error = fails(
        "TW_ESETTING", lambda: io.create(folder / "a.nc", chunksizes=(1, 2)), everywhere=True
    )
    assert "chunks" in str(error) and "attrs" in str(error)
    (folder / "text.nc").write_text("not netCDF")
    WORLD.Barrier()
    fails("TW_EFORMAT", lambda: io.open(folder / "text.nc"))
    f = io.create(folder / "a.nc")
    fails("TW_EINUSE", lambda: io.create(folder / "a.nc"))
    for wrong in ("c8", "M8[s]", "bool", str(np.longdouble)):
        with pytest.raises((tw.Error, TypeError)):
            f.define("x", wrong, "y")
    fails("TW_ETYPE", lambda: f.define("x", object), everywhere=False)
    error = fails("TW_ESETTING", lambda: f.define("x", "f4", defalte=3), everywhere=False)
    assert "deflate" in str(error)
    f.define("x", "i2", attrs={"defalte": 3})
    fails("TW_EEXISTS", lambda: f.define("x", "f4"), everywhere=False)
    fails("TW_ERANGE", lambda: f.define("y", "i2", _FillValue=1e6), everywhere=False)
    for value in (None, {}, ["a", "b"], [], 1j):
        with pytest.raises(tw.Error):
            f.attrs["bad"] = value
    f["x"] = 1
    f.close()
    f.close()
    for call in (f.end_step, lambda: f.put("x", 1), f.sync, lambda: f.put("x", 1j)):
        fails("TW_ECLOSED", call, everywhere=False)
    with io.open(folder / "a.nc") as f:
        fails("TW_ESTATE", lambda: f.put("x", 1), everywhere=False)
        with pytest.raises(KeyError):
            f.attrs["none"]
        with pytest.raises(tw.Error):
            f["none"]


def test_sessions(comm, folder):
    with pytest.raises(TypeError, match="mpi4py"):
        tw.Session(7)
    fails("TW_EMPI", lambda: tw.Session(MPI.COMM_NULL), everywhere=False)
    freed = comm.Dup()
    stale = MPI.Comm(freed)
    freed.Free()
    fails("TW_EMPI", lambda: tw.Session(stale), everywhere=False)
    fails("TW_ESETTING", lambda: tw.Session(comm, metod="slabs"))
    fails(
        "TW_ESETTING",
        lambda: tw.Session(comm, method="a;b" if comm.rank == 0 else "slabs"),
        everywhere=False,
    )
    if comm.size > 1:
        assert "COMM_WORLD" in str(fails("TW_EARG", tw.Session, everywhere=False))
    own = comm.Dup()
    io = tw.Session(own)
    own.Free()
    cells = io.split(y=4)
    f = io.create(folder / "s.nc")
    io.finalize()
    io.finalize()
    for call in (
        io.summary,
        f.end_step,
        lambda: f.put("x", 1),
        cells.free,
        lambda: cells.fill_halo("clip"),
        lambda: io.split(y=3),
        lambda: io.comm,
    ):
        fails("TW_ESTATE", call, everywhere=False)
    f.close()
    with tw.Session(comm) as other, other.create(folder / "t.nc") as f, pytest.raises(tw.Error):
        f.define("x", "f4", "y", cells)


def test_block_left_by_an_exception(comm, folder):
    """Tests a block that is left by an exception: without waiting for other ranks, the file
    stays incomplete, and a new session writes it again."""
    for attempt in range(2):
        with (
            pytest.raises(RuntimeError, match="model"),
            tw.Session(comm) as io,
            io.create(folder / "e.nc") as f,
        ):
            f.define_dim("time", None)
            f.define("x", "i4", "time")
            f["x"] = 1
            f.end_step()
            if attempt == 0 or comm.rank == comm.size - 1:
                raise RuntimeError("model")
            raise RuntimeError("another rank of the model")
        assert not io.is_open and not f.is_open
        comm.Barrier()
        assert not (folder / "e.nc").exists() and (folder / "e.nc.part").exists()
        comm.Barrier()
    if comm.rank == 0:
        assert "1 record" in tw.recover(folder / "e.nc")
    comm.Barrier()
    with tw.Session(comm) as io, io.open(folder / "e.nc") as f:
        assert f.records == 1


def test_exception_in_a_file_only(io, folder):
    with (
        pytest.raises(tw.Error, match="'time'; define it with define_dim"),
        io.create(folder / "f.nc") as f,
    ):
        f.define("x", "i4", "time")
    assert f.is_open and f.left_by_exception
    error = fails("TW_EINUSE", lambda: io.create(folder / "f.nc"))
    assert "close()" in error.__notes__[0]
    f.close()
    with pytest.raises(tw.Error), io.open(folder / "f.nc") as f:
        f.get("none")
    assert not f.is_open


def test_restarts(io, folder):
    cells = io.split(y=6)
    r = io.restart()
    read_only = np.zeros(cells.array_shape())
    read_only.flags.writeable = False
    fails("TW_EARG", lambda: r.add("a", read_only, "y", cells), everywhere=False)
    fails("TW_EARG", lambda: r.add("a", [1, 2], "y", cells), everywhere=False)
    r.add("a", np.zeros(cells.array_shape()), "y", cells)
    fails("TW_EIO", lambda: r.read(folder / "none.nc"))
    r.write(folder / "r.nc")
    with r.open(folder / "r.nc") as f:
        fails("TW_ENOTFOUND", lambda: f.get("b", cells, out=np.zeros(cells.array_shape())))
        fails("TW_ETYPE", lambda: f.get("a", cells, dtype="f4"))
    r.free()
    fails("TW_EHANDLE", lambda: r.write(folder / "r.nc"), everywhere=False)


# Arguments of wrong types: the call, and what the message says before the signature.
def test_wrong_types_name_the_argument(io, folder):
    cells = io.split(y=6)
    stream = '[[stream]]\nname="a"\nevery="1 day"\nfields=["T"]\n'
    history = io.history(stream, calendar="noleap", start="2000-01-01")
    numbers = np.arange(3.0)
    calls = [
        (lambda f: f.define("a", "f8", numbers), "dims must be names of dimensions, not array"),
        (lambda f: f.define("a", "f8", "y", "cells"), "decomposition must be a decomposition"),
        (lambda f: f.define("a", "f8", "y", cells, attrs="K"), "attrs must be a dictionary"),
        (lambda f: f.define("a"), "missing a required argument: 'dtype'"),
        (lambda f: f.define_dim("z", 2.5), "length must be integers, not 2.5"),
        (lambda f: f.set_record("1"), "record must be integers"),
        (lambda f: f.put_record("v", numbers, 0, "y"), "decomposition must be a decomposition"),
        (lambda f: f.put_box("v", numbers, 1.5), "start must be integers"),
        (lambda f: io.split(y=6.5), "'float' object cannot be interpreted as an integer"),
        (lambda f: io.decompose(y=6, start=("a",), count=(2,)), "start must be integers"),
        (lambda f: io.split(y=6, along=3), "along must be names of dimensions, not 3"),
        (lambda f: io.decompose_list(y=6, listed=[1], indices=[0]), "listed must be names"),
        (lambda f: io.create(3), "path must be a path, not 3"),
        (lambda f: io.create("x.nc", attrs=[1]), "attrs must be a dictionary"),
        (lambda f: io.open(None), "expected str, bytes or os.PathLike object, not NoneType"),
        (lambda f: io.wait("all"), "most must be integers"),
        (lambda f: cells.pad("large", 1), "extent must be integers"),
        (lambda f: io.restart().add("a", np.zeros(1), numbers), "dims must be names"),
        (lambda f: io.restart().write(5), "path must be a path"),
        (lambda f: history.coordinate("y", numbers, numbers), "dims must be names"),
        (lambda f: history.field("T", "f8", "y", "cells"), "decomposition must be"),
    ]
    with io.create(folder / "types.nc") as f:
        f.define("v", "f8", "y", cells)
        for call, text in calls:
            with pytest.raises(TypeError) as caught:
                call(f)
            assert str(caught.value).startswith(text), str(caught.value)
            assert re.search(r": \w+\(.*\)$", str(caught.value)), str(caught.value)
        f["v"] = np.full(cells.array_shape(), 7.0)
    with io.open(folder / "types.nc") as f:
        for call in (
            lambda: f.get("v", "cells"),
            lambda: f.get("v", "cells", halo=1),
            lambda: f.get_box("v", "a", [1]),
        ):
            with pytest.raises(TypeError, match=r"must be .*get"):
                call()
        # On one rank alone: the others get an error, too.
        with pytest.raises((TypeError, tw.Error)):
            f.get("v", "cells" if WORLD.rank == 0 else cells)
        assert np.array_equal(f.get("v", cells), np.full(cells.array_shape(), 7.0))


def test_the_exception_itself(io):
    error = fails("TW_EIO", lambda: io.open("none/none.nc"))
    for other in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert (str(other), other.code, other.file) == (str(error), error.code, error.file)


def test_settings_are_those_of_the_document():
    table = (Path(__file__).parents[2] / "docs/settings.md").read_text()
    listed = re.findall(r"^\| \[?`(\w+)`\S* \|(.*)$", table, re.M)
    for_files = {name for name, text in listed if "Session" not in text}
    assert for_files == set(FILE_SETTINGS)
