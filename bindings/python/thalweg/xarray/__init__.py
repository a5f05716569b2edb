# SPDX-License-Identifier: Apache-2.0
"""xarray: the engine "thalweg" for reading, and Dataset.thalweg.write.

>>> import thalweg.xarray
>>> ds.thalweg.write("out.nc")
>>> xarray.open_dataset("out.nc", engine="thalweg")

With several ranks each has its part: pass `session` and `decomposition` to both.
"""

from ._read import ThalwegBackend
from ._write import ThalwegAccessor

__all__ = ["ThalwegAccessor", "ThalwegBackend"]
