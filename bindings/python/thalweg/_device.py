# SPDX-License-Identifier: Apache-2.0
"""Copies arrays from the memory of devices to that of the host."""

from __future__ import annotations

import math
import sys
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

# Devices of DLPack whose memory the processor can read.
HOST_DEVICES = {1, 3, 11, 13}


class HostMemory:
    """Buffers for copies; a buffer is used again when no array refers to it any more."""

    def __init__(self) -> None:
        self._buffers: list[tuple[np.ndarray, weakref.ref]] = []  # and the base of its arrays

    def array(self, shape: Sequence[int], dtype: np.dtype) -> np.ndarray:
        """Returns a contiguous array, whose values are not set."""
        size = math.prod(shape) * dtype.itemsize
        free = [k for k, (_, used) in enumerate(self._buffers) if used() is None]
        free.sort(key=lambda k: (self._buffers[k][0].size < size, self._buffers[k][0].size))
        buffer = self._buffers.pop(free[0])[0] if free else np.empty(0, "u1")
        if buffer.size < size:
            buffer = np.empty(size, "u1")
        whole = np.asarray(memoryview(buffer))  # all arrays in the buffer refer to it
        self._buffers.append((buffer, weakref.ref(whole)))
        return whole[:size].view(dtype).reshape(shape)

    def copy_of(self, values: Any) -> np.ndarray:
        """Copies an array of a device; packages that cannot fill given memory, such as JAX, make
        their own copy."""
        package = type(values).__module__.partition(".")[0]
        if package == "cupy":
            return values.get(out=self.array(values.shape, values.dtype))
        if package == "torch":
            dtype = np.dtype(str(values.dtype).removeprefix("torch."))
            array = self.array(values.shape, dtype)
            sys.modules["torch"].from_numpy(array).copy_(values.detach())
            return array
        if hasattr(values, "__array__"):
            return np.asarray(values)
        return np.from_dlpack(values, device="cpu")
