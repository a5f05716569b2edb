# SPDX-License-Identifier: Apache-2.0
"""The fields of computed.py, and what a history computes from them, in numpy."""

import math

import numpy as np

NZ, NY, NX = 6, 7, 5
SIZES = {"lev": NZ, "y": NY, "x": NX}
MISSING = 1e20
FIELDS = {
    "u": ("f4", "y x", {"units": "m s-1", "standard_name": "eastward_wind"}),
    "v": ("f8", "y x", {"units": "m s-1"}),
    "ice": ("f8", "y x", {"units": "1", "missing": "varying"}),
    "n": ("i4", "y x", {"units": "1"}),
    "t": ("f4", "lev y x", {"units": "K", "missing": "varying", "cell_methods": "area: mean"}),
    "scale": ("f8", "lev", {"units": "1"}),
    "p": ("f8", "lev y x", {"units": "Pa", "standard_name": "air_pressure"}),
}


def value(name, step):
    """Returns the values of a field in a step."""
    dtype, dims, _ = FIELDS[name]
    shape = [SIZES[dim] for dim in dims.split()]
    rng = np.random.default_rng([step, list(FIELDS).index(name)])
    if name == "n":
        return rng.integers(-3, 4, shape).astype(dtype)
    if name == "p":
        base = np.random.default_rng([step]).uniform(0.8, 1.2, (1, NY, NX))
        levels = np.linspace(100, 900, shape[0])[:, None, None]
        found = (levels + rng.uniform(0, 60, shape)) * base
        found[2, 3, 1] = found[4, 3, 1]  # a column that is not monotonic
        return found
    found = rng.uniform(-2, 2, shape)
    if name in ("ice", "t"):
        found[rng.random(shape) < 0.1] = MISSING
    return found.astype(dtype)


def load(name, step):
    """Returns values as float64, and where they are missing."""
    found = value(name, step)
    missing = found.astype("f8") > 0.9 * MISSING
    if FIELDS[name][1] == "lev":
        found, missing = found[:, None, None], missing[:, None, None]
    return found.astype("f8"), missing


def speed(step):
    (u, none), (v, _) = load("u", step), load("v", step)
    return np.sqrt(u * u + v * v), none


def of_math(function):
    return np.vectorize(lambda x: function(x) if x > 0 or function is math.exp else np.nan)


LOG, EXP = of_math(math.log), of_math(math.exp)
BINARY = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "==": np.equal,
    "!=": np.not_equal,
}


def random_expression(rng, names, depth):
    """Returns an expression as text, and a function that computes it in a step."""
    kind = rng.integers(9) if depth > 0 else 9
    a, b = (random_expression(rng, names, depth - 1) for _ in range(2)) if depth > 0 else (0, 0)
    if kind < 4:
        op = str(rng.choice(list(BINARY)))

        def both(step):
            (x, m), (y, k) = a[1](step), b[1](step)
            return BINARY[op](x, y).astype("f8"), m | k

        return f"({a[0]}) {op} ({b[0]})", both
    if kind == 4:

        def quotient(step):
            (x, m), (y, k) = a[1](step), b[1](step)
            return x / y, m | k | (y == 0)

        return f"({a[0]})/({b[0]})", quotient
    if kind == 5:

        def where(step):
            (x, m), (y, k) = a[1](step), b[1](step)
            return x + 0 * y, m | k | (y == 0)

        return f"(({a[0]}) where ({b[0]}))", where
    if kind == 6:
        name = str(rng.choice(["min", "max"]))
        function = np.minimum if name == "min" else np.maximum

        def extreme(step):
            (x, m), (y, k) = a[1](step), b[1](step)
            return function(x, y), m | k

        return f"{name}({a[0]}, {b[0]})", extreme
    if kind in (7, 8):
        name = str(rng.choice(["sqrt", "abs", "log", "-", "exp"]))

        def single(step):
            x, m = a[1](step)
            if name == "sqrt":
                return np.sqrt(x), m | (x < 0)
            if name == "log":
                return LOG(x), m | (x <= 0)
            if name == "exp":
                return EXP(np.minimum(x, 9)), m
            return (-x if name == "-" else np.abs(x)), m

        inside = f"min({a[0]}, 9)" if name == "exp" else a[0]
        return f"{name}({inside})", single
    if rng.random() < 0.2:
        number = round(float(rng.uniform(0, 2)), 2)
        return str(number), lambda step: (np.float64(number), np.False_)
    name = str(rng.choice(names))
    return name, lambda step: load(name, step)


def interpolate(x, missing, p, wanted, log):
    """Interpolates columns: first index."""
    shape = (len(wanted), *x.shape[1:])
    found, lost = np.zeros(shape), np.ones(shape, bool)
    for j, v in enumerate(wanted):
        for at in np.ndindex(x.shape[1:]):
            for k in range(NZ - 1):
                a, b = p[k, *at], p[k + 1, *at]
                if not (a <= v <= b or a >= v >= b):
                    continue
                share = math.log(v / a) / math.log(b / a) if log else (v - a) / (b - a)
                found[j, *at] = (1 - share) * x[k, *at] + share * x[k + 1, *at]
                lost[j, *at] = missing[k, *at] or missing[k + 1, *at]
                break
    return found, lost
