# SPDX-License-Identifier: Apache-2.0
"""Tests that programs which call netCDF have the same outcome plain and under thalweg run.

The programs use only netCDF. In these tests, either all their calls go through the dispatch table
and back to netCDF (netcdf=forward), or the shim takes none.

Usage: check_netcdf.py CASE FOLDER_OF_PROGRAMS THALWEG SHIM -- LAUNCHER...
"""

import os
import re
import shutil
import subprocess
import sys
from itertools import zip_longest
from pathlib import Path

NAMES = re.findall(
    r"\w+",
    """
    nc_create nc__create nc__create_mp nc_open nc__open nc__open_mp nc_create_par
    nc_open_par nc_create_par_fortran nc_open_par_fortran nc_var_par_access
    nc_def_var_chunking_ints nc_inq_var_chunking_ints nc_set_var_chunk_cache_ints
    nc_get_var_chunk_cache_ints nc_copy_att nc_copy_var nc_reclaim_data
    nc_reclaim_data_all nc_copy_data nc_copy_data_all nc_dump_data nc_close nc_delete
    nc_def_user_format nf_create_par_ nf_open_par_ nf_var_par_access_
    """,
)
FORWARD = ("--netcdf", "forward")


class Programs:
    def __init__(self, arguments):
        at = arguments.index("--")
        programs, self.tool, self.shim = arguments[:at]
        self.programs, self.launch = Path(programs), arguments[at + 1 :]

    def __getattr__(self, name):
        return str(self.programs / f"netcdf_{name}")

    def plugin(self, name):
        return str(self.programs / f"libnetcdf_plugin_{name}.so")


def run(name, words, **environment):
    """Runs a command in a fresh folder. Returns its code, output, errors and folder."""
    folder = Path(name).resolve()
    folder.mkdir(exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    done = subprocess.run(
        [str(w) for w in words],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, **environment},
    )
    return done.returncode, done.stdout, done.stderr, folder


def contents(folder):
    """Returns the files of a folder: the bytes of those that do not depend on the time."""
    found = {}
    for path in sorted(folder.iterdir()):
        data = path.read_bytes()
        found[path.name] = len(data) if data.startswith(b"\x89HDF") else data
    return found


def same(case, command, options=FORWARD, files=True):
    """Compares a program's outcome plain and under thalweg run. Returns what thalweg run prints."""
    code, out, err, plain = run(f"{case}_plain", command)
    assert code == 0 and out, (code, out, err)
    taken = run(f"{case}_taken", [*P.tool_run, *options, *command])
    assert taken[0] == 0, taken
    other = [
        pair for pair in zip_longest(out.splitlines(), taken[1].splitlines()) if pair[0] != pair[1]
    ]
    assert not other, other[:10]
    if files:
        assert contents(plain) == contents(taken[3])
    return taken[2]


def forwarded(text):
    """Returns how many files went through the dispatch table."""
    found = re.search(r"thalweg: 0 files by Thalweg, (\d+) files? by netCDF-C", text)
    return int(found[1]) if found else 0


def symbols(_):
    """Tests that the shim needs only the C library, and defines only the names that it should."""
    text = subprocess.run(["readelf", "-d", P.shim], capture_output=True, text=True).stdout
    assert re.findall(r"NEEDED.*\[(.*)\]", text) == ["libc.so.6"], text
    text = subprocess.run(["nm", "-D", P.shim], capture_output=True, text=True).stdout
    lines = [line.split()[-2:] for line in text.splitlines()]
    needed = [name for kind, name in lines if kind == "U"]
    assert needed and not [n for n in needed if re.match("nc_|ncmpi_|nf_|MPI_|H5", n)], needed
    defined = {name for kind, name in lines if kind == "T"}
    pnetcdf = {name for name in defined if name.startswith("ncmpi_")}
    assert len(pnetcdf) in (0, 913), len(pnetcdf)
    defined -= pnetcdf
    assert defined == {*NAMES, "thalweg_shim_depth"}, defined.symmetric_difference(NAMES)


def serial(p):
    err = same("serial", [p.program])
    assert forwarded(err) == 16, err  # as many as the program creates and opens
    err = same("serial_left", [p.program], ["--netcdf", "parallel"])
    assert "by Thalweg" not in err, err
    err = same("serial_off", [p.program], ["--netcdf", "off"])
    assert "by Thalweg" not in err, err


def first(p):
    """Tests a program that was linked with the shim before netCDF."""
    code, out, err, plain = run("first_plain", [p.program])
    assert code == 0, err
    code, other, err, folder = run("first_taken", [p.first], THALWEG_NETCDF="forward")
    assert (code, other) == (0, out) and forwarded(err) == 16, (other, err)
    assert contents(plain) == contents(folder)


def loaded(p):
    """Tests netCDF in a plug-in that no other object sees, and two plug-ins with different
    libraries."""
    for plugins in (["serial"], ["parallel"], ["serial", "parallel"]):
        case = "loaded_" + "_".join(plugins)
        err = same(case, [p.loader, *map(p.plugin, plugins)])
        assert forwarded(err) == 15 * len(plugins), (case, err)
    err = same("linked_and_loaded", [p.program, p.plugin("parallel")])
    assert forwarded(err) == 31, err


def python(_):
    script = Path(__file__).with_name("wheel.py")
    err = same("python", [sys.executable, script])
    assert forwarded(err) == 12, err
    same("python_left", [sys.executable, script], ["--serial", "no"])


def fortran(p):
    err = same("fortran", [p.fortran])
    assert forwarded(err) == 1, err


def parallel(p):
    for ranks in (1, 3):
        launch = [*p.launch, "-n", ranks]
        code, _, err, plain = run(f"parallel{ranks}_plain", [*launch, p.parallel])
        assert code == 0, err
        texts = [(plain / f"rank{r}.txt").read_text() for r in range(ranks)]
        ways = {
            "inside": [*launch, *P.tool_run, *FORWARD, p.parallel],
            "outside": [*P.tool_run, *FORWARD, *launch, p.parallel],
        }
        for way, command in ways.items():
            code, _, err, folder = run(f"parallel{ranks}_{way}", command)
            assert code == 0, err
            for r in range(ranks):
                assert (folder / f"rank{r}.txt").read_text() == texts[r], (way, r)
            assert forwarded(err) == 4 and err.count("by netCDF-C") == 1, err


def other_mpi(p):
    """Tests that files with communicators of another MPI stay with netCDF, and that this is
    reported once."""
    err = same("other_mpi", [p.other_mpi])
    assert err.count("the program does not run this build's MPI, libmpi") == 1, err
    assert forwarded(err) == 4, err


def mpich(p):
    """Tests a program of MPICH under a build for another MPI: files without communicator are
    taken."""
    err = same("mpich", ["mpiexec.mpich", "-n", 1, p.mpich], ["--serial=yes"], files=False)
    assert err.count("the program does not run this build's MPI, libmpi") == 1, err
    assert "2 files by Thalweg" in err, err


def launcher(p):
    """Tests the variables that thalweg run passes on through a launcher, and when it considers
    itself a rank."""
    folder = Path("launchers").resolve()
    folder.mkdir(exist_ok=True)
    name = folder / "mpirun"
    name.write_text('#!/bin/sh\necho "$*"\necho "$OMPI_MCA_mca_base_env_list"\n')
    name.chmod(0o755)
    open_mpi = (
        "Open MPI"
        in subprocess.run([p.launch[0], "--version"], capture_output=True, text=True).stdout
    )
    _, out, err, _ = run("launcher", [*P.tool_run, "a=b", name, "-n", 2, "./model", "x"])
    words, names = out.splitlines()
    assert words == "-n 2 ./model x" and "LD_PRELOAD" in names.split(";"), (out, err)
    _, out, err, _ = run("launcher", [*P.tool_run, "a=b", name, "-x", "HOME", "./model"])
    words, names = out.splitlines()
    added, own = words.split()[:-3], words.split()[-3:]
    assert own == ["-x", "HOME", "./model"], (out, err)
    if open_mpi:
        assert names == "" and set(added[::2]) == {"-x"}, (out, err)
        assert {"THALWEG_A", "LD_PRELOAD", "THALWEG_SUMMARY"} == set(added[1::2]), (out, err)
        options = ["-x", "HOME", "-n", 1]
        code, out, err, _ = run("launcher", [*P.tool_run, "a=b", *p.launch, *options, "env"])
        assert code == 0 and "THALWEG_A=b" in out.splitlines(), (out, err)
    for variable, lines in (("SLURM_PROCID", 1), ("PMI_RANK", 0)):
        _, _, err, _ = run("launcher", [*P.tool_run, "true"], **{variable: "0"})
        assert len(err.splitlines()) == lines, (variable, err)


def ends(p):
    """Tests files whose communicator ends before them, that a child process inherits, or that
    stay open."""
    # With "root", the other rank waits to open what the first one makes alone; with "format", one
    # rank has a user-defined format: all ranks leave the file to netCDF or none does.
    for case in ("handles", "badclose", "fork", "root", "format"):
        command = [*p.launch, "-n", 2, p.ends, case]
        code, out, err, _ = run(f"ends_{case}_plain", command)
        assert code == 0 and out, (case, out, err)
        code, other, err, _ = run(f"ends_{case}", [*P.tool_run, *command])
        assert code == 0 and sorted(out.splitlines()) == sorted(other.splitlines()), (other, err)
        told = r" 1 file by " if case in ("root", "format") else " by Thalweg"
        assert len(re.findall(told, err)) == 1, (case, err)
    # One rank cannot load a library, for a lack of descriptors first in a call of its own, and the
    # other one must not wait for it.
    for case in ("poor", "few"):
        command = [*P.tool_run, "--serial=yes", *p.launch, "-n", 2, p.ends, case]
        code, _, err, _ = run(f"ends_{case}", command)
        assert code != 0 and "the program ends: " in err, (code, err)
    # One rank's shim has no front beside it.
    folder = Path("bare").resolve()
    folder.mkdir(exist_ok=True)
    bare = shutil.copy(p.shim, folder)
    shims = [["-n", 1, "env", f"LD_PRELOAD={shim}", p.ends, "shared"] for shim in (p.shim, bare)]
    code, _, err, _ = run("ends_bare", [*p.launch, *shims[0], ":", *shims[1]])
    assert code != 0 and "the program ends: " in err, (code, err)
    # Without PnetCDF, netCDF does not create these files.
    for case, name in (("shared", "shared.nc"), ("alone", "alone0.nc")):
        command = [*p.launch, "-n", 2, p.ends, case]
        _, out, err, folder = run(f"ends_{case}", [*P.tool_run, *command])
        taken = "1 file by Thalweg" in err
        assert taken == (f"{name} is incomplete" in err), (out, err)
        assert not (taken and (folder / name).exists()), err


def choices(p):
    """Tests settings that choose files, and lines that report the choice."""
    command = [p.loader, p.plugin("serial")]
    for option, glob, number in (
        ("--only", "a0.nc", 3),
        ("--only", "a0.nc:./a1.nc:a[2-3].*", 9),
        ("--only", r"x\:a0.nc:a\1.nc", 3),
        ("--skip", "a[0-3].nc", 3),
        ("--skip", "*.nc", 0),
    ):
        _, _, err, _ = run("choices", [*P.tool_run, *FORWARD, option, glob, *command])
        assert forwarded(err) == number, (glob, err)
    _, _, err, _ = run("choices", [*P.tool_run, *FORWARD, "--only=a0.nc", "--tell=file", *command])
    line = "thalweg: a0.nc: by netCDF-C, because THALWEG_NETCDF is forward"
    assert line in err.splitlines(), err
    _, _, err, _ = run("choices", [*P.tool_run, *FORWARD, "tell=no", *command])
    assert "by netCDF-C" not in err, err
    code, _, err, _ = run("choices", command, LD_PRELOAD=p.shim, THALWEG_NETCDF="some")
    assert code == 0 and err.count("THALWEG_NETCDF is parallel, all, forward or off, not some") == 1


def copied(p):
    """Tests a program that has a copy of an object which its libraries and Thalweg's use."""
    err = same("copied", [p.copied], ["--serial=yes"], files=False)
    assert "1 file by Thalweg" in err, err


def exits(_):
    """Tests files that are open when a program exits: they are closed, and its exit code stays."""
    script = Path(__file__).with_name("exits.py")
    for case in ("d", "p", "r", "c", "cp", "cr"):
        command = [*P.tool_run, "--serial=yes", sys.executable, script, case]
        code, out, err, folder = run("exits", command)
        assert code == 3, (case, code, out, err)
        assert "exits.nc was not closed by the program" in err, (case, err)
        assert (folder / "exits.nc").exists(), (case, err)


def user_format(p):
    """Tests that a program's own user-defined format keeps its slot."""
    for when in ([], ["later"]):
        err = same("user_format", [p.user_format, *when])
        assert "registered a user-defined format" in err, err
        assert forwarded(err) == len(when), err


def static(p):
    """Tests that programs which the shim cannot reach are reported."""
    for name, text in (("inside", "linked statically (nc_create)"), ("static", "is static")):
        program = getattr(p, name)
        if not Path(program).exists():
            continue
        code, _, err, _ = run("static", [*P.tool_run, program])
        assert code == 0 and text in err, err
        code, out, _, _ = run("static", [P.tool, "doctor", program])
        assert (name == "inside" or code == 1) and "static" in out, out


def own(p):
    """Tests that netCDF calls which Thalweg itself makes are not taken."""
    options = [*FORWARD, "format=netcdf4", "deflate=1"]
    code, _, err, folder = run("own", [*P.tool_run, *options, *p.launch, "-n", 2, p.own])
    assert code == 0 and forwarded(err) == 0 and "1 file" in err, err
    assert (folder / "hello.nc").read_bytes().startswith(b"\x89HDF")


def doctor(p):
    code, out, err, _ = run("doctor", [P.tool, "doctor", p.parallel])
    assert code == 0, (out, err)
    for text in (
        r"MPI +/\S+libmpi",
        r"HDF5 +/\S+libhdf5",
        r"netCDF +/\S+libnetcdf\S+ \(\d+\.\d+",
        r"table +version [345], mode bit 0x",
        r"taken +files that are created or opened with a communicator",
        r"not taken +files created without communicator: thalweg run --serial=yes",
    ):
        assert re.search(text, out), (text, out)
    code, out, _, _ = run("doctor", [P.tool, "doctor", p.program], THALWEG_NETCDF="off")
    assert code == 1 and "THALWEG_NETCDF is off" in out, out
    code, out, _, _ = run("doctor", [P.tool, "doctor", sys.executable])
    assert code == 0 and "loaded later is taken all the same" in out, out


if __name__ == "__main__":
    P = Programs(sys.argv[2:])
    P.tool_run = [P.tool, "run"]
    globals()[sys.argv[1]](P)
