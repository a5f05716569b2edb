#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs `thalweg history`: check_tool.py PROGRAM"""

import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = sys.argv[1]

CONFIG = """\
[[stream]]
name = "month"
every = "1 month"
fields = ["t*", "ice"]
new_file = "1 year"
path = "atm/month_{start:YYYY}.nc"
field.tasmax = { of = "tas", inner = { op = "max", every = "1 day" } }
[[stream]]
name = "noon"
every = "1 day"
op = "instant"
fields = ["ta"]
levels = { dim = "lev", index = [0, 2] }
records = 100
[[stream]]
name = "fixed"
every = "once"
fields = ["area"]
[region.strait]
index = { lon = [0, 9] }
[[stream]]
name = "strait"
every = "run"
op = "max"
region = "strait"
fields = ["tas"]
"""

RUN = """\
calendar = "noleap"
start = "2000-01-01"
end = "2002-01-01"
step = 3600
dims = { lev = 10, lat = 90, lon = 180 }
[fields]
tas = "float lat lon"
ta = "float lev lat lon"
ice = "float lat lon missing=varying"
area = "double lat lon"
"""

DIAG_TABLE = """\
"My ocean", with a title
1900 1 1 0 0 0
# files
"ocean_month_%4yr_%2mo", 1, "months", 1, "days", "time", 1, "years"
"ocean_daily",           1, "days",   1, "hours", "time", 1, "months", "1900 2 1 0 0 0"
"ocean_static",         -1, "months", 1, "days", "time"
"every_step", 0, "days", 1, "days", "time",
"odd", 5, "hours", 1, "days", "time"
# fields
"ocean_model",   "thetao",  "thetao",  "ocean_month_%4yr_%2mo", "all", .true.,  "none", 2
"ocean_model",   "thetao",  "thetao_max", "ocean_month_%4yr_%2mo", "all", "max",  "none", 2
"ocean_model_z", "uo",      "uo",      "ocean_month_%4yr_%2mo", "all", "mean",  "none", 1
"ocean_model",   "SSH"      "ssh"      "ocean_daily",  "all", .false., "none", 2,  # blanks, too
"ocean_model",   "SSH",     "ssh_sq",  "ocean_daily",  "all", "pow02", "none", 2
"ocean_model",   "SSH",     "ssh_box", "ocean_daily",  "all", .false., "-20 10 40 60 -1 -1", 2
"ocean_model",   "geolat",  "geolat",  "ocean_static", "all", .false., "none", 2
"ice_model",     "HI",      "HI",      "every_step",   "all", "min",   "none", 2
"ice_model",     "EXT",     "EXT",     "odd",          "all", "sum",   "none", 2
"""

CONVERTED = """\
# My ocean
[history]
time_units = "days since 1900-01-01 00:00:00"

[[stream]]
name = "ocean_month"
every = "1 month"
new_file = "1 year"
path = "ocean_month__{start:YYYY}_{start:MM}.nc"
field."thetao" = { of = "ocean_model/thetao" }
field."thetao_max" = { of = "ocean_model/thetao", op = "max" }
field."uo" = { of = "ocean_model_z/uo", type = "double" }
"""

ICE_IN = """\
&setup_nml
  days_per_year  = 365      ! comment = here
  histfreq       = 'd','m','x','x','h'
  histfreq_n     =  1 , 1 , 1 , 1 , 6
  hist_avg       = .true.,.true.,.true.,.true.,.false.
  hist_time_axis = 'middle'
  history_dir    = './HISTORY/'
  history_file   = 'iceh'
/
&icefields_nml
  f_tmask  = .true.
  f_hi     = 'md'
  f_aice   = 'mdh'
  f_uvel   = 'x'
/
"""

ICE = """\
[[stream]]
name = "iceh_d"
every = "1 day"
stamp = "middle"
fields = ["aice", "hi"]
records = 1
path = "./HISTORY/iceh_d.{start:YYYY-MM-DD}.nc"

[[stream]]
name = "iceh_m"
every = "1 month"
stamp = "middle"
fields = ["aice", "hi"]
records = 1
path = "./HISTORY/iceh_m.{start:YYYY-MM}.nc"

[[stream]]
name = "iceh_h"
every = "6 hours"
op = "instant"
fields = ["aice"]
records = 1
path = "./HISTORY/iceh_h.{end:YYYY-MM-DD-hh}.nc"

"""


def run(*arguments, code=0):
    done = subprocess.run(
        [PROGRAM, "history", *map(str, arguments)], capture_output=True, text=True
    )
    assert done.returncode == code, (arguments, done)
    return done.stdout, done.stderr


def check(config, described):
    out, _ = run(config)
    assert out == f"{config}: 4 streams, no problems\n", out
    out, _ = run(config, "--run", described)
    lines = out.splitlines()
    # A record has tas, ta (10 levels), tasmax and ice as floats. In memory, each mean takes 8
    # bytes, the daily maximum of tasmax 4 more, and the mask of ice 4 more.
    elements = 90 * 180
    sizes = dict(record=4 * elements * 13, memory=elements * (8 * 11 + 12 + 12))
    assert sizes == dict(record=842400, memory=1814400)
    assert lines[0] == "stream 'month': 24 records, 842 kB each", out
    assert lines[1] == (
        "    2 files of 20.2 MB in all before compression: atm/month_2000.nc ... atm/month_2001.nc"
    ), out
    assert lines[2] == "    1.81 MB of memory on all ranks together", out
    assert lines[3] == "stream 'noon': 730 records, 130 kB each", out
    assert lines[4].startswith("    8 files of 94.6 MB in all before compression: noon_2000-01-"), (
        out
    )
    assert lines[5] == "stream 'fixed': 1 record, 64.8 kB each", out
    assert lines[7] == "stream 'strait': 1 record, 3.60 kB each", out
    assert lines[-1].startswith("in all: 12 files, "), out


def check_points(folder, described):
    points = folder / "points.toml"
    points.write_text(
        "[region.p]\npoints = [[1, 2]]\n"
        '[[stream]]\nname = "p"\nevery = "1 day"\nregion = "p"\nfields = ["tas"]\n'
    )
    # Without coordinates, the program does not know which dimensions the stations replace.
    out, _ = run(points, "--run", described)
    assert "    130 kB of memory on all ranks together at most\n" in out, out


def check_problems(folder, config, described):
    wrong = folder / "wrong.toml"
    wrong.write_text(
        CONFIG.replace("op = ", "pp = ", 1).replace("1 day", "1 dag").replace('["ta"]', "1")
    )
    out, err = run(wrong, code=1)
    numbers = [line.split(":")[1] for line in err.splitlines()]
    assert out == "" and numbers == ["7", "7", "7", "10", "12"], err
    assert all(line.startswith(f"{wrong}:") for line in err.splitlines()), err
    wrong.write_text(CONFIG.replace('"ice"', '"snow"'))
    assert (
        "wrong.toml:4: stream 'month': the model declares no field 'snow'"
        in run(wrong, "--run", described, code=1)[1]
    )
    run(wrong)
    # A date that the calendar lacks, and a step that covers whole windows.
    wrong.write_text(CONFIG + 'from = "2000-02-30"\n')
    run(wrong, "--calendar", "360_day")
    assert "has no date '2000-02-30'" in run(wrong, code=1)[1]
    slow = folder / "slow.toml"
    slow.write_text(RUN.replace("3600", "200000"))
    assert "covers the whole window" in run(config, "--run", slow, code=1)[1]
    slow.write_text(RUN.replace("lat lon", "lat lom").replace("step", "stop"))
    err = run(config, "--run", slow, code=1)[1]
    assert (
        "'step' is missing" in err and "'stop' is not a key" in err and "no dimension 'lom'" in err
    )
    assert "cannot read" in run(folder / "none.toml", code=1)[1]
    wrong.write_text('[[stream]]\nfile = { format = "netcdf5", servers = 2 }\n')
    err = run(wrong, code=1)[1]
    assert "file: 'format'" in err and "file: 'servers'" in err, err


def check_conversion(folder):
    table = folder / "diag_table"
    table.write_text(DIAG_TABLE)
    out, err = run("--from", table)
    assert err == "" and out.startswith(CONVERTED), (out, err)
    for part in [
        'from = "1900-02-01 00:00:00"',
        'path = "ocean_daily_{start}.nc"',
        'op = "mean_square"',
        'every = "once"',
        'every = "step"\nop = "min"',
        'every = "5 hours"\nop = "sum"\nanchor = "start"',
        "box = [-20, 10, 40, 60]",
    ]:
        assert part in out, (part, out)
    converted = folder / "converted.toml"
    converted.write_text(out.replace('"1 year"', '"1 month"'))
    run(converted, "--start", "1900-01-01")
    table.write_text(DIAG_TABLE + '"a", "b", "c", "odd", "all", "diurnal24", "none", 2\n"x", 1\n')
    out, err = run("--from", table, code=1)
    assert "diag_table:19: field 'c': 'diurnal24' is not converted" in err, err
    assert "diag_table:20: neither" in err and "[[stream]]" in out, err
    ice = folder / "ice_in"
    ice.write_text(ICE_IN)
    out, err = run("--from", ice)
    assert (out, err) == (ICE, ""), out
    converted.write_text(out)
    run(converted)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        config, described = folder / "history.toml", folder / "run.toml"
        config.write_text(CONFIG)
        described.write_text(RUN)
        check(config, described)
        check_points(folder, described)
        check_problems(folder, config, described)
        check_conversion(folder)


main()
