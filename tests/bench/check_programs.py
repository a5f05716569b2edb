# SPDX-License-Identifier: Apache-2.0
"""check_programs.py PROGRAMS.PY BIN -- MPIRUN...: short runs of programs that call netCDF or
PnetCDF."""

import subprocess
import sys

script, programs, *launch = (word for word in sys.argv[1:] if word != "--")


def run(which: str, *arguments: str) -> str:
    command = [sys.executable, script, which, *arguments]
    command += ["--bin", programs, "--launch", " ".join(launch)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    print(done.stdout)
    return done.stdout


for which, cases in (
    ("netcdf", ["ufs/netcdf4", "serial/levels", "fv-b/reading", "inquire", "start"]),
    ("pnetcdf", ["t85/nonblocking", "t85/reading", "pairs", "ask"]),
):
    lines = run(which, *cases, "--ranks", "2", "--repetitions", "1").splitlines()
    assert [line.split()[0] for line in lines[1:]] == cases, lines
print("programs: ok")
