# SPDX-License-Identifier: Apache-2.0
"""The command-line tools with which users inspect files."""

import shutil
import subprocess


def run_tools(tools):
    """Runs each of them and requires success. Yields the name of each tool and its output.

    Tools that are not installed are left out."""
    for tool in tools:
        if shutil.which(tool[0]) is None:
            print(f"left out: {tool[0]} is not installed")
            continue
        done = subprocess.run(tool, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{' '.join(tool)}: {done.stdout}{done.stderr}"
        yield tool[0], done.stdout
