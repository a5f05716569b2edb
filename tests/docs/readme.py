# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of README.md in a fresh clone, with an empty home and no build folder.

Usage: readme.py ROOT

All shell blocks run in their order in one shell, as a user pastes them. Only blocks that measure
(./run bench) are left out: they take minutes, and tests/bench runs the benchmark. Then the build
folder goes away, and the installed tree alone must compile and run the hello programs in C, C++ and
Fortran. The clone has what git knows of ROOT: commits, and changes of tracked files. Where the
system allows it, the clone appears in ROOT's place, so that the compiler cache knows its files.
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

SKIPPED = 77
USE_INSTALLED = r"""
rm -rf "$CLONE/build" hello hello.nc
mkdir "$HOME/user"
cp examples/hello/hello.c examples/hello/hello.cpp examples/hello/hello.f90 "$HOME/user"
cd "$HOME/user"
mpicc hello.c -o hello_c $(pkg-config --cflags --libs thalweg)
mpicxx -std=c++20 hello.cpp -o hello_cpp $(pkg-config --cflags --libs thalweg)
mpifort hello.f90 -o hello_f90 $(pkg-config --cflags --libs thalweg-fortran)
for program in hello_c hello_cpp hello_f90; do
    ! ldd $program | grep 'libthalweg.*=>' | grep -vF "=> $HOME/thalweg/" || exit 1
    mpirun -n 2 ./$program || exit 1
    mv hello.nc $program.nc
    cmp hello_c.nc $program.nc || exit 1
done
ncdump -h hello_c.nc | grep -q 'time = UNLIMITED ; // (3 currently)'
"""


def blocks(page: str) -> list[str]:
    """Returns the shell blocks of a page, without those that measure."""
    found = re.findall(r"^```sh\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    return [block for block in found if not re.search(r"^\./run bench\b", block, re.MULTILINE)]


def checked(block: str) -> str:
    """Returns a block that ends at the first line that fails, also in a list joined by &&."""
    return re.sub(r"(?<!\\)\n", " \ntest $? = 0 || exit 1\n", block)


def clone(root: Path, folder: Path) -> None:
    def git(place: Path, *words: str, text: bytes = b"") -> bytes:
        command = ["git", "-C", str(place), *words]
        return subprocess.run(command, input=text, stdout=subprocess.PIPE, check=True).stdout

    git(root, "clone", "--quiet", str(root), str(folder))
    if changes := git(root, "diff", "--binary", "HEAD"):
        git(folder, "apply", text=changes)


def can_mount() -> list[str]:
    """Returns the command with which this user can mount a folder on another, if there is one."""
    for command in (["unshare", "-m"], ["unshare", "-rm"]):
        try:
            probe = [*command, "mount", "--bind", "/tmp", "/tmp"]
            if subprocess.run(probe, capture_output=True, check=False).returncode == 0:
                return command
        except OSError:
            pass
    return []


def main(root: Path) -> int:
    if not (root / ".git").exists():
        print("no git repository: nothing can be cloned")
        return SKIPPED
    with tempfile.TemporaryDirectory(prefix="thalweg_readme_") as name:
        work = Path(name)
        tree, home, script = work / "clone", work / "home", work / "commands"
        home.mkdir()
        clone(root, tree)
        commands = "".join(checked(block) for block in blocks((tree / "README.md").read_text()))
        script.write_text(f"set -ex\n{commands}{USE_INSTALLED}")
        where = ["ccache", "--get-config", "cache_dir"]
        cache = subprocess.run(where, capture_output=True, text=True, check=False).stdout.strip()
        environment = {k: v for k, v in os.environ.items() if not k.startswith("THALWEG_")}
        environment.update(HOME=str(home), CLONE=str(tree), CCACHE_DIR=cache)
        place, command = tree, ["bash", str(script)]
        if mount := can_mount():
            place = root
            mounted = f"mount --bind {shlex.quote(str(tree))} {shlex.quote(str(root))}"
            inside = f'{mounted} && cd {shlex.quote(str(root))} && exec bash "$0"'
            command = [*mount, "bash", "-c", inside, str(script)]
        run = subprocess.run(
            command, cwd=place, env=environment, stdin=subprocess.DEVNULL, check=False
        )
    print("README.md: ok" if run.returncode == 0 else "README.md: its commands failed")
    return run.returncode


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
