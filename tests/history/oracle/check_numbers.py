#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares statistics with numpy, bit for bit: check_numbers.py PROGRAM CASES"""

import subprocess
import sys

import numpy as np

TYPES = {1: "i1", 3: "i2", 4: "i4", 5: "f4", 6: "f8", 7: "u1", 8: "u2", 9: "u4", 10: "i8", 11: "u8"}
OK, ARG, RANGE = 0, -2, -9
NONE, FIXED, VARYING = range(3)
INSTANTS = ("instant", "once")  # they have one sample
EXTREMES = ("min", "max", "range", *INSTANTS)


def missing_in(x, value):
    if x.dtype.kind == "f" and np.isnan(value):
        return np.isnan(x)
    bits = f"u{x.dtype.itemsize}"
    return x.view(bits) == np.array(value, x.dtype).view(bits)


class Model:
    """A model of one operation, in numpy."""

    def __init__(self, op, elements, integers, min_valid=0.0, ddof=0, checked=True):
        self.op, self.integers = op, integers
        self.min_valid, self.ddof, self.checked = min_valid, ddof, checked
        self.elements = elements
        self.reset()

    def reset(self):
        n = self.elements
        self.total, self.samples = 0.0, 0
        self.weight = np.zeros(n)
        self.sum = np.full(n, -0.0)
        self.squares = np.zeros(n)
        self.whole = [0] * n
        self.values = [[] for _ in range(n)]

    def add(self, x, valid, weight, field):
        """Adds a sample.
        @param x: the values, unchanged
        @param valid: True for valid values
        @param field: weight of each element, or None"""
        self.total += weight
        if weight == 0:
            return
        self.samples += 1
        w = np.full(len(x), weight)
        if field is not None:
            w = weight * field
            valid = valid & (field > 0)
        wide = x.astype("f8")
        with np.errstate(all="ignore"):
            after = self.weight + np.where(valid, w, 0)
            if self.op in ("mean",):
                self.sum = np.where(valid, self.sum + w * wide, self.sum)
            elif self.op in ("rms", "mean_square"):
                self.sum = np.where(valid, self.sum + w * wide * wide, self.sum)
            elif self.op == "sum":
                self.sum = np.where(valid, self.sum + wide, self.sum)
                if self.integers:
                    for i in np.flatnonzero(valid):
                        # An overflow of an intermediate value counts as an overflow of the result.
                        if abs(self.whole[i]) < 2**63:
                            self.whole[i] += int(x[i])
            elif self.op == "std":
                mean = np.where(self.weight > 0, self.sum, 0)
                delta = wide - mean
                next = mean + w * delta / after
                more = self.squares + w * delta * (wide - next)
                self.squares = np.where(valid, more, self.squares)
                self.sum = np.where(valid, next, mean)
            else:
                for i in np.flatnonzero(valid):
                    self.values[i].append(x[i])
        self.weight = after

    def result(self):
        """Returns the values (as doubles, or in their own type), and where they are valid."""
        valid = self.weight > 0
        if self.checked:
            valid &= self.weight >= self.min_valid * self.total
        with np.errstate(all="ignore"):
            if self.op in EXTREMES:
                found = []
                for values in self.values:
                    values = np.array(values) if values else np.zeros(1)
                    least, greatest = extreme(values, np.less), extreme(values, np.greater)
                    if self.op == "range":
                        found.append(np.float64(greatest) - np.float64(least))
                    else:
                        found.append(least if self.op == "min" else greatest)
                return found, valid
            if self.op == "sum":
                return (self.whole if self.integers else self.sum), valid
            if self.op == "std":
                if self.ddof:
                    valid &= self.weight >= 1 + self.ddof
                return np.sqrt(self.squares / (self.weight - self.ddof)), valid
            mean = self.sum / self.weight
            return (np.sqrt(mean) if self.op == "rms" else mean), valid


def extreme(values, before):
    """Returns the first extreme, or the last NaN, because each NaN replaces the one before."""
    found = values[0]
    for value in values[1:]:
        if before(value, found) or value != value:
            found = value
    return found


class Case:
    def __init__(self, random):
        pick = random.choice
        self.type = int(pick(list(TYPES), p=[0.03] * 3 + [0.4, 0.35] + [0.03] * 3 + [0.035] * 2))
        self.dtype = np.dtype(TYPES[self.type])
        self.real = self.dtype.kind == "f"
        ops = ["mean", "min", "max", "sum", "rms", "mean_square", "std", "range", *INSTANTS]
        self.op = str(pick(ops))
        inner = str(pick(["min", "max", "range", "mean", "sum"]))
        self.inner = inner if random.random() < 0.2 and self.op not in INSTANTS else None
        self.missing = int(pick(3))
        self.weight_field = bool(
            random.random() < 0.2
            and not self.inner
            and self.op in ("mean", "rms", "mean_square", "std")
        )
        self.counts = bool(random.random() < 0.4)
        self.min_valid = 0.0
        if self.missing == VARYING and not self.weight_field and random.random() < 0.5:
            self.min_valid = float(pick([0.25, 0.5, 0.6, 1.0]))
        self.ddof = int(self.op == "std" and self.counts and not self.weight_field and pick(2))
        self.elements = int(pick([1, 2, 3, 17, 64, 1500, 5000]))
        self.stride = int(pick([1, 1, 1, 2, 3]))
        self.steps = int(pick([0, 1])) if self.op in INSTANTS else int(pick([0, 1, 2, 5, 12]))
        self.out = int(pick([5, 6]))
        if not self.real and not self.inner and self.op in ("min", "max", "sum") and pick(2):
            self.out = self.type
        if not self.real and self.op in INSTANTS:
            self.out = self.type
        nan = self.real and random.random() < 0.3
        missing = np.nan if nan else 100 if self.dtype.itemsize == 1 else 9999
        self.value = np.array(missing, self.dtype)[()]
        self.fill = np.array(77, TYPES[self.out])
        self.random = random
        self.events = []
        self.make_events()

    def sample(self, mask):
        random, shape = self.random, self.elements
        if self.real:
            x = (random.standard_normal(shape) * 10.0 ** random.integers(-3, 6)).astype(self.dtype)
            special = random.random(shape)
            x[special < 0.01] = -0.0
            if self.missing == NONE:
                x[special > 0.995] = np.nan
        else:
            x = random.integers(0, 90, shape).astype(self.dtype)
            if self.dtype.kind == "i":
                x *= random.choice(np.array([-1, 1], self.dtype), shape)
            if self.dtype.itemsize == 8 and self.op in ("sum", *INSTANTS) and random.random() < 0.2:
                x += np.array(2**62, self.dtype)
        if mask is not None:
            x[mask] = self.value
        return x

    def make_events(self):
        random = self.random
        fixed = random.random(self.elements) < 0.3
        last = None
        for _ in range(self.steps):
            mask = None
            if self.missing == FIXED:
                mask = fixed
            elif self.missing == VARYING:
                mask = random.random(self.elements) < 0.4
            weight = float(random.choice([1.0, 1.0, 0.5, 3.0, 1 / 3, 0.0]))
            if self.counts and (self.ddof or random.random() < 0.7):  # else any
                weight = 1.0
            field = None
            if self.weight_field:
                field = random.random(self.elements) * (random.random(self.elements) > 0.3)
            self.events.append(("S", weight, self.sample(mask), field))
            last = "S"
            if random.random() < 0.1:
                self.events.append(("R", 0.0, None, None))
            if self.inner and random.random() < 0.5:
                self.events.append(("I", 1.0 if self.counts else 0.75, None, None))
                last = "I"
        if self.inner and last == "S":
            self.events.append(("I", 1.0, None, None))

    def request(self):
        line = (
            f"{self.op} {self.inner or '-'} {self.type} {self.missing} {int(self.weight_field)} "
            f"{int(self.counts)} {self.min_valid} {self.ddof} {self.elements} {self.stride} "
            f"{self.out} {len(self.events)}\n"
        )
        bits = [self.value.tobytes().ljust(8, b"\0"), self.fill.tobytes().ljust(8, b"\0")]
        for kind, weight, x, field in self.events:
            bits += [kind.encode(), np.float64(weight).tobytes()]
            if kind == "S":
                padded = np.zeros(self.elements * self.stride, self.dtype)
                padded[:: self.stride] = x
                bits.append(padded.tobytes())
                if field is not None:
                    bits.append(field.tobytes())
        return line.encode() + b"".join(bits)

    def expected(self):
        integers = not self.real
        # min_valid needs a mask that varies; without one it is 0
        whole = integers and not self.inner
        outer = Model(self.op, self.elements, whole, self.min_valid, self.ddof)
        inner = Model(self.inner, self.elements, integers) if self.inner else None
        status = OK
        for kind, weight, x, field in self.events:
            if kind == "S":
                valid = np.ones(self.elements, bool)
                if self.missing != NONE:
                    valid = ~missing_in(x, self.value)
                (inner or outer).add(x, valid, weight, field)
            elif kind == "I" and inner.samples > 0:
                values, valid = inner.result()
                if inner.integers and inner.op == "sum":
                    lost = np.array([not -(2**63) < v < 2**63 for v in values])
                    if lost.any():
                        return None  # may have wrapped around, so it is not compared
                outer.add(np.array(values, "f8"), valid, weight, None)
                inner.reset()
        values, valid = outer.result()
        out = np.dtype(TYPES[self.out])
        found = np.full(self.elements, self.fill, out)
        for i in np.flatnonzero(valid):
            value = values[i]
            if outer.op == "sum" and outer.integers:
                least, most = -(2**63) + 1, 2**63 - 1
                if out.kind != "f":
                    least, most = max(least, np.iinfo(out).min), min(most, np.iinfo(out).max)
                if not least <= value <= most:
                    status = RANGE
                    continue
                value = float(value) if out.kind == "f" else value
            with np.errstate(all="ignore"):
                found[i] = np.array(value).astype(out)
        return status, found


def main():
    program, count = sys.argv[1], int(sys.argv[2])
    wrong = 0
    for first in range(0, count, 200):
        cases = [Case(np.random.default_rng(i)) for i in range(first, min(count, first + 200))]
        asked = b"".join(case.request() for case in cases)
        run = subprocess.run([program], input=asked, stdout=subprocess.PIPE, check=True)
        place = 0
        for i, case in enumerate(cases):
            status = int(np.frombuffer(run.stdout, "i4", 1, place)[0])
            found = np.frombuffer(run.stdout, TYPES[case.out], case.elements, place + 4)
            place += 4 + found.nbytes
            answer = case.expected()
            if answer is None:
                continue
            same = found.tobytes() == answer[1].tobytes() or (
                # The bits of a NaN depend on the order of operands.
                found.dtype.kind == "f"
                and (
                    (found.view(f"u{found.itemsize}") == answer[1].view(f"u{found.itemsize}"))
                    | (np.isnan(found) & np.isnan(answer[1]))
                ).all()
            )
            if status == answer[0] and same:
                continue
            wrong += 1
            if wrong <= 5:
                bad = np.flatnonzero(found != answer[1])[:3]
                print(
                    f"case {first + i}: {case.request()[:80].splitlines()[0]}: status {status}, "
                    f"expected {answer[0]}; {bad}: {found[bad]}, expected {answer[1][bad]}"
                )
    print(f"{count} cases, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
