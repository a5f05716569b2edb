# SPDX-License-Identifier: Apache-2.0
"""Reports of simulated runs, kept in a folder so that no run is simulated twice.

A report depends only on the run and the program. Reports of another build of the program are not
used, unless the folder has a file `any-build`: that is for work on parts that are not simulated.
"""

import hashlib
import json
from dataclasses import asdict
from pathlib import Path

import simulation


class Store:
    def __init__(self, build, folder=None):
        self.build = Path(build)
        self.folder = Path(folder) if folder else None
        self.simulated = 0
        if self.folder:
            self.folder.mkdir(parents=True, exist_ok=True)
        self.program = self._program()

    def _program(self):
        if self.folder is None or (self.folder / "any-build").exists():
            return ""
        parts = ("bin/thalweg-scale", "lib/libthalweg.so", "lib/libscale_platform.so")
        texts = [(self.build / part).read_bytes() for part in parts]
        return hashlib.sha256(b"".join(texts)).hexdigest()

    def path_of(self, run):
        wanted = asdict(run)
        del wanted["seconds"]
        key = json.dumps([self.program, wanted], sort_keys=True)
        return self.folder / f"{hashlib.sha256(key.encode()).hexdigest()[:24]}.json"

    def report(self, run):
        """Returns the report of a run, simulated if there is none. Raises RunError; failures
        are kept, too."""
        if self.folder is None:
            self.simulated += 1
            return simulation.simulate(self.build, run)
        path = self.path_of(run)
        if not path.exists():
            self.simulated += 1
            try:
                found = {"report": simulation.simulate(self.build, run)}
            except simulation.RunError as e:
                found = {"error": str(e)}
            part = path.with_suffix(".part")
            part.write_text(json.dumps(found) + "\n")
            part.rename(path)
        found = json.loads(path.read_text())
        if "error" in found:
            raise simulation.RunError(found["error"])
        return found["report"]
