# SPDX-License-Identifier: Apache-2.0
"""Thalweg: parallel output and input of Earth-system model fields, as netCDF files in file order.

>>> import numpy as np, thalweg as tw
>>> with tw.Session() as io:                        # with MPI: tw.Session(MPI.COMM_WORLD)
...     cells = io.decompose(lat=4, lon=8, start=(0, 0), count=(4, 8))
...     with io.create("hello.nc", title="an example") as f:
...         f.define("T", "f4", "time lat lon", cells, units="K")
...         f["T"] = np.full((4, 8), 273.0)
...         f.end_step()

`thalweg.xarray` adds `Dataset.thalweg.write` and the engine "thalweg" to xarray. The guide is
docs/python.md. The compiled core, and with it MPI, is loaded by the first session.
"""

from . import _build
from ._decomposition import Decomposition
from ._errors import Error
from ._file import File
from ._history import Field, History
from ._restart import Restart
from ._session import Session, recover
from ._variable import Variable

__version__ = _build.VERSION

__all__ = [
    "Decomposition",
    "Error",
    "Field",
    "File",
    "History",
    "Restart",
    "Session",
    "Variable",
    "__version__",
    "recover",
]
