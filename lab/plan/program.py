# SPDX-License-Identifier: Apache-2.0
"""The program thalweg-plan, which knows how the library would lay out an output."""

import json
import subprocess
from types import SimpleNamespace

from keys import PlanError


class Shares:
    """The work of each way, from the program that makes the library's layouts.

    It has bytes and variables of an output, the work of reading it back, the kind of the file
    system, and a warning of the library.
    """

    def __init__(self, program, run):
        self._child = subprocess.Popen(
            [program, "work"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        names = (
            "ranks", "nodes", "cores", "outputs", "outputs_per_file", "lengths", "grid", "writers",
            "storage", "file_system", "stripe_size", "stored", "list_run", "deferred", "durable",
            "buffer", "staging", "piece",
        )  # fmt: skip
        about = {name: getattr(run, name) for name in names}
        about |= {"variables": run.groups, "compressed": run.deflate > 0}
        answer = self._ask(about)
        if "error" in answer:
            raise PlanError(f"{run.file}: key 'file_system': {answer['error']}")
        self.bytes, self.variables = answer["bytes"], answer["variables"]
        self.sharing, self.warning = answer["sharing"], answer["warning"]
        self.reading = SimpleNamespace(**answer["reading"])

    def _ask(self, question):
        self._child.stdin.write(json.dumps(question) + "\n")
        self._child.stdin.flush()
        return json.loads(self._child.stdout.readline())

    def work_of(self, way):
        """Returns the work of a way."""
        return SimpleNamespace(
            **self._ask(
                {
                    "method": way.method,
                    "own_files": way.own_files,
                    "writers": way.writers,
                    "servers": way.servers,
                    "queued": way.service != "inline",
                }
            )
        )
