# SPDX-License-Identifier: Apache-2.0
"""same_records.py WHOLE LATER: checks that the records of LATER are the last ones of WHOLE, bit for
bit."""

import sys

import netCDF4


def main() -> int:
    wrong = []
    with netCDF4.Dataset(sys.argv[1]) as whole, netCDF4.Dataset(sys.argv[2]) as later:
        n = len(later.dimensions["time"])
        if n < 2 or len(whole.dimensions["time"]) <= n:
            wrong.append("there are not as many records as expected")
        for name, variable in later.variables.items():
            of_whole = whole[name]
            for v in (variable, of_whole):
                v.set_auto_maskandscale(False)
            last = of_whole[-n:] if "time" in variable.dimensions else of_whole[...]
            if variable[...].tobytes() != last.tobytes():
                wrong.append(name)
    if wrong:
        print("FAILED: other values:", ", ".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
