#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs `thalweg history`: check_tool.py PROGRAM"""

import re
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
"ocean_month_%4yr",      1, "months", 1, "days", "Time", 1, "years"
"ocean_daily%4yr%2mo.nc", 1, "days",  1, "days", "Time", 1, "months", "1900 2 1 0 0 0"
"ocean_static",         -1, "months", 1, "days", "Time"  # "not, a, name"
"every_step", 0, "days", 1, "days", "Time",
# fields
"ocean_model",   "thetao",  "thetao",  "ocean_month_%4yr", "all", .true.,  "none", 2
"ocean_model",   "thetao",  "Thetao",  "ocean_month_%4yr", "all", "max",  "none", 2
"ocean_model_z", "uo",      "uo",      "ocean_month_%4yr", "all", "mean",  "none", 1
"ocean_model",   "SSH"      "ssh"      "ocean_daily%4yr%2mo",  "all", .false., "none", 2,
"ocean_model",   "SSH",     "ssh_sq",  "ocean_daily%4yr%2mo",  "all", "pow02", "none", 2
"ocean_model", "SSH", "ssh_box", "ocean_daily%4yr%2mo",  "all", .false., "-20,10,40,60,-1,-1", 2
"ocean_model", "SSH", "ssh_line", "ocean_daily%4yr%2mo", "all", .false., "2. 2. -71 -34 -1 -1", 2
"ocean_model", "SSH", "ssh_lat", "ocean_daily%4yr%2mo",  "all", .false., "-1 -1 40 60 -1 -1", 2
"ocean_model",   "geolat",  "geolat",  "ocean_static", "all", .false., "none", 2
"ocean_model",   "geolat",  "unused",  "null", "all", .false., "none", 2
"ice_model",     "HI",      "HI",      "every_step",   "all", "min",   "none", 2
"ice_model",     "EXT",     "EXT",     "odd",          "all", "sum",   "none", 2
"odd", 5, "hours", 1, "days", "Time"
"""

CONVERTED = """\
[history]
time_units = "days since 1900-01-01 00:00:00"
time = "Time"
attributes = { title = "My ocean" }

[[stream]]
name = "ocean_month"
every = "1 month"
new_file = "1 year"
path = "ocean_month__{start:YYYY}.nc"
field."thetao" = { of = "ocean_model/thetao" }
field."Thetao_max" = { of = "ocean_model/thetao", op = "max" }
field."uo" = { of = "ocean_model_z/uo", type = "double" }
"""

# Faults in a table that is otherwise the one above: lines, messages, and what must not be written.
TABLE_FAULTS = """\
title
1900 1 1 0 0 0
"a", 1, "days", 1, "days", "time"
"m%4yr%2mo", 1, "days", 1, "days", "time", 1, "years"
"j%4yr%3dy", 1, "days", 1, "days", "time", 1, "days"
"d%dy", 1, "days", 1, "days", "time", 1, "days"
"n", 1, "days", 1, "days", "time", 1, "months"
"p%4yr", 1, "days", 1, "days", "time"
"h%4yr", 1, "days", 1, "hours", "time", 1, "years"
"g%4yr", 1, "days", 1, "days", "time", 1, "years", "1900 1 1 0 0 0", 6, "months"
"o", "x", "oa", "a", "all", "diurnal24", "none", 2
"o", "x", "ob", "a", "all", "mean", "1 2 3 4 0 100", 2
"o", "x", "od", "a", "all", "mean", "1 2 3", 2
"o", "x", "oe", "b", "all", "mean", "none", 2
"o", "x", "of", "a", "all", "mean", "none", 4
"o", "x", "of", "a", "all", "mean", "none", 2
"x", 1
"o", "x", "x", "m%4yr%2mo", "all", "mean", "none", 2
"o", "x", "x", "j%4yr%3dy", "all", "mean", "none", 2
"o", "x", "x", "d%dy", "all", "mean", "none", 2
"o", "x", "x", "n", "all", "mean", "none", 2
"o", "x", "x", "p%4yr", "all", "mean", "none", 2
"o", "x", "x", "h%4yr", "all", "mean", "none", 2
"o", "x", "x", "g%4yr", "all", "mean", "none", 2
"""

TABLE_PROBLEMS = {
    4: "the date in its name is not converted",
    5: "the date in its name is not converted",
    6: "the date in its name is not converted",
    7: "FMS needs a date",
    8: "the date in its name needs",
    9: "time axis of the first",
    10: "file_duration is not converted",
    11: "'diurnal24' is not converted",
    12: "levels are not converted",
    13: "expected six numbers",
    14: "no line has the file 'b'",
    15: "packing 4 is not converted",
    16: "another line has it",
    17: "neither",
}

ICE_IN = """\
! an ice_in
&SETUP_NML
  days_per_year  = 365      ! comment = here, 'and here
  histfreq       = 'm','d','h',2*'x'
  histfreq_n     = 5*1
  histfreq_n(3)  = 6
  hist_avg       = .true., .true.,
                   .false., 2*.true.
  hist_time_axis = 'middle' history_dir = './Jack''s/'
  history_file   = 'iceh'
  histfreq_base  = , 'init'
/
 f_outside = 'm'
&zbgc_nml f_exude_s = 1.0 f_don = 'd' /
&icefields_nml
  f_tmask  = .true.
  f_ANGLE  = .true.
  f_TLON   = T
  f_blkmask = .false.
  f_hi     = 'md'
  f_Tsfc   = "mdhx"
  f_divu   = 'm'
  f_uvel   = 'xxxxx'
/
&icefields_bgc_nml
  f_bgc_S  = 'm'
&end
"""

ICE = """\
# The history writes the coordinates of the fields, and their bounds.
[[stream]]
name = "iceh_m"
every = "1 month"
stamp = "middle"
fields = ["hi", "Tsfc", "bgc_S"]
records = 1
path = "./Jack's/iceh.{last:YYYY-MM}.nc"

[[stream]]
name = "iceh_m_inst"
every = "1 month"
op = "instant"
fields = ["divu"]
records = 1
path = "./Jack's/iceh_m_inst.{end:YYYY-MM-DD-hhmmss}.nc"

[[stream]]
name = "iceh_d"
every = "1 day"
stamp = "middle"
fields = ["hi", "Tsfc"]
records = 1
path = "./Jack's/iceh.{last:YYYY-MM-DD}.nc"

[[stream]]
name = "iceh_h"
every = "6 hours"
op = "instant"
fields = ["Tsfc"]
records = 1
path = "./Jack's/iceh_inst.{end:YYYY-MM-DD-hhmmss}.nc"

[[stream]]
name = "iceh_grid"
every = "once"
fields = ["tmask", "ANGLE"]
path = "./Jack's/iceh_grid.nc"
"""

# Faults of an ice_in: a text in place of another, the line that is named, and the message.
ICE_FAULTS = [
    ("'m','d','h',2*'x'", "'m','d','n',2*'x'", 4, "histfreq: 'n' is not converted"),
    ("histfreq_n     = 5*1", "histfreq_n = 'one'", 5, "'one' is not a number"),
    ("5*1\n  histfreq_n(3)  = 6", "1, 5, 1, 5*0", 0, ""),
    (".true., .true.,\n                   .false., 2*.true.", ".false.", 7, "one value is for all"),
    (".true., .true.,", "'yes', .true.,", 7, "'yes' is not true or false"),
    ("'init'", "'init' write_ic = .true.", 11, "write_ic"),
    ("'init'", "'init' history_format = 'hdf5'", 11, "'hdf5' is not converted"),
    ("'md'", "'mq'", 20, "'mq' has a letter other than"),
    ("f_hi ", "f_CMIP ", 20, "stands for many fields"),
    ("f_hi ", "f_hi(1) ", 20, "expected one value"),
    ("\n&end", "", 25, "group 'icefields_bgc_nml' has no end"),
    ("&icefields_bgc_nml", "&icefields_nml", 25, "group 'icefields_nml' comes again"),
    ("histfreq ", "hist_freq ", 0, "group 'setup_nml' has no 'histfreq'"),
]

OTHER_FORMS = {
    "": "it is empty",
    " \n\t\n": "it is empty",
    '{ "diag_files": [] }': "it is JSON",
    "[1, 2]": "it is JSON",
    "title: my run\ndiag_files:\n- file_name: atm\n": "YAML",
    CONFIG: "it is TOML",
    "CDF\1\0\0\0\0": "it is not text",
    "# nothing\nbut words\n1 1 1 0 0 0\n": "it is neither",
    "&run steps=1 /\n": "group 'setup_nml' has no 'histfreq'",
}

# Files of a model that calls XIOS, with a file that another one includes.
XIOS = """<context id="1_nest" src="fields.xml">
<file_definition name="@expname@_@freq@_@startdate@_@enddate@" split_freq="1mo">
<file_group output_freq="5d"><file id="T" name_suffix="_T" compression_level="1">
<field field_ref="e3t"/>
<field field_ref="toce" name="thetao" operation="instant" freq_op="5d"> @toce_e3t / @e3t </field>
<field field_ref="sst" name="std" operation="instant"> sqrt( @sst2 - @sst * @sst ) </field>
<field field_ref="sst" name="highest" operation="maximum" freq_op="1d"/><field field_ref="sst"
 name="box" grid_ref="box"/><field name="dsst" operation="instant" freq_op="5d">
sqrt(@sst2 - @sst * @sst) </field><field name="range" operation="average" freq_op="1d"
unit="K"> @hot - @cold </field><field name="kelvin" field_ref="sst" unit="K"> sst + 273.15 </field>
<field field_ref="none"/>
<field field_ref="sst" enabled=".FALSE."/><field_group group_ref="mooring"/>
<field_group group_ref="none"/><variable name="contact">me</variable></file></file_group>
<file id="in" mode="read"/></file_definition></context>
"""
FIELDS = """<context><!-- -- a comment -- --><field_definition operation="average" prec="8">
<field id="e3t" unit="m"/><field id="toce"/><field id="toce_e3t"> toce * e3t </field>
<field id="sst" long_name="surface"/><field id="sst2"> sst * sst </field><field_group id="mooring">
<field id="hot" field_ref="sst" operation="maximum"/><field id="cold" field_ref="sst"
operation="minimum"/></field_group><field_group id="mooring">
<field field_ref="sst" name="tos" operation="instant"/></field_group></field_definition></context>
"""
MPAS = """<streams><immutable_stream name="input" type="input" input_interval="initial_only"/>
<immutable_stream name="restart" type="input;output" output_interval="1_00:00:00"/>
<stream name="output" type="output" filename_template="history.$Y-$M-$D_$h.nc"
  output_interval="1_06:00:00" io_type="pnetcdf,cdf5" precision="single">
<file name="list"/><var name="u"/><var_struct name="tracers"/></stream>
<stream name="month" filename_template="m.$Y.nc" filename_interval="01-00-00_00:00:00"
  reference_time="01-01-01_00:00:00" output_interval="00-01-00_00:00:00"><var name="ps"/></stream>
<stream name="odd" type="output" filename_template="o.nc" output_interval="00-01-01_00:00:00"/>
</streams>
"""
# Parts of the configurations that are made of them; lines and texts of their problems.
XML = {
    XIOS: (
        [
            'weights = "count"\nanchor = "start"',
            'name = "1_T"\nevery = "5 days"\npath = "1_5d_{start:YYYYMMDD}_{last:YYYYMMDD}_T.nc"',
            'new_file = "1 month"',
            'deflate = 1 }\nfield."e3t" = { of = "e3t", type = "double"',
            'field."thetao" = { of = "toce", weight = "e3t"',
            'op = "max"\nsample = "1 day"',
            'field."dsst" = { of = "sst", op = "std"',
            '"range" = { of = "sst", units = "K", inner = { op = "range", every = "1 day" } }',
            'field."kelvin" = { of = "sst + 273.15", type = "double", units = "K"',
            'op = "instant"',
            'field."tos" = { of = "sst"',
        ],
        "3: file '|6: field 'std': 'sqrt|7: field 'box': grid_ref|11: field 'none'|13: no group|"
        "13: v|14: file '",
    ),
    MPAS: (
        [
            'every = "30 hours"\nop = "instant"\ninitial = true\nanchor = "start"\nrecords = 1',
            'file = { format = "cdf5" }\ntype = "float"\nfields = ["theta", "rho", "u"]',
            'path = "history.{start:YYYY}-{start:MM}-{start:DD}_{start:hh}.nc"',
            'anchor = "0001-01-01 00:00:00"\nnew_file = "1 year"\nboundary = "next"',
        ],
        "5: var_struct 'tracers'|8: stream 'odd': output_interval",
    ),
    "<streams/>": ([], "1: no stream"),
    "<?xml version='1.0'?>\n<simulation/>": ([], "2: no field"),
    "<context>\n<file>": ([], "2: XML: "),
}


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
    assert (90 * 180 * 4 * 13, 90 * 180 * (8 * 11 + 12 + 12)) == (842400, 1814400)
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


def check_cycle(folder, described):
    cycle = folder / "cycle.toml"
    cycle.write_text(
        '[[stream]]\nname = "c"\nevery = "12 hours"\nop = "diurnal"\nfields = ["tas"]\n'
        '[[stream]]\nname = "r"\nevery = "day"\nfields = ["ta"]\nreduce="sum"\nover=["lat", "lon"]'
    )
    out, _ = run(cycle, "--run", described)
    assert out.startswith("stream 'c': 17520 records"), out  # 12 of 24 bins in each window
    assert "stream 'r': 730 records, 40 B each" in out, out


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


def check_keys():
    """The tool names the keys that the page names in its examples and tables."""
    page = (Path(__file__).parents[2] / "docs/history.md").read_text()
    keys = run("--keys")[0]
    for key in re.findall(r"`(\w+) = ", page):
        assert re.search(rf"^\| `{key}` \|", keys, re.MULTILINE), f"--keys does not name {key}"


def check_tables(folder):
    table, converted = folder / "diag_table", folder / "converted.toml"
    table.write_text(DIAG_TABLE)
    out, err = run("--from", table, "--start", "1900-01-01")
    assert err == "" and out.startswith(CONVERTED), (out, err)
    for part in [
        'from = "1900-02-01 00:00:00"',
        'path = "ocean_daily_{start:YYYY}_{start:MM}.nc"',
        'op = "mean_square"',
        'every = "once"',
        'every = "step"\nop = "instant"\npath = "every_step.nc"\nfield."HI" =',
        'every = "5 hours"\nop = "sum"\nanchor = "start"\npath = "odd.nc"\nfield."EXT_sum"',
        "box = [-20, 10, 40, 60]",
        "box = [0, 360, 40, 60]",
        "box = [2, 2, -71, -34]",
    ]:
        assert part in out, (part, out)
    assert "unused" not in out, out
    converted.write_text(out)
    run(converted, "--start", "1900-01-01")
    table.write_text(TABLE_FAULTS)
    out, err = run("--from", table, code=1)
    for line, problem in zip(err.splitlines(), TABLE_PROBLEMS.items(), strict=True):
        assert line.startswith(f"{table}:{problem[0]}: ") and problem[1] in line, (line, problem)
    assert not any(f'"o{c}"' in out for c in "abcde") and 'field."of"' in out, out
    converted.write_text(out)
    run(converted)
    table.write_text(DIAG_TABLE.replace("1900 1 1 0 0 0", "YYYY 1 1 0 0 0", 1))
    out, err = run("--from", table, code=1)
    assert "diag_table:2: the base date" in err and '"days since START"' in out, (out, err)
    table.write_text(DIAG_TABLE[DIAG_TABLE.index("# files") :])
    assert "diag_table:2: no title and base date" in run("--from", table, code=1)[1]
    # The history's own check finds two files of one name.
    table.write_text(DIAG_TABLE.replace('1, "years"', '1, "months"', 1))
    out, err = run("--from", table, code=1)
    assert "standard output:10: stream 'ocean_month': 'path': two files" in err, err


def check_ice(folder):
    ice, converted = folder / "ice_in", folder / "converted.toml"
    ice.write_text(ICE_IN)
    out, err = run("--from", ice)
    assert (out, err) == (ICE, ""), (out, err)
    converted.write_text(out)
    run(converted)
    for old, new, line, problem in ICE_FAULTS:
        assert old in ICE_IN, old
        ice.write_text(ICE_IN.replace(old, new, 1))
        out, err = run("--from", ice, code=1 if problem else 0)
        where = f"{ice}:{line}: " if line else f"{ice}: " if problem else ""
        assert err.startswith(where) and problem in err and err.count("\n") <= 1, (new, err)
    # Windows are counted from the year 0, or from the beginning of the run.
    ice.write_text(ICE_IN.replace("5*1\n  histfreq_n(3)  = 6", "1, 5, 1, 5*0"))
    assert 'every = "5 days"\nanchor = "0000-01-01"' in run("--from", ice)[0]
    start = "year_init = 1997 day_init=3 histfreq_n = 5*5"
    ice.write_text(ICE_IN.replace("histfreq_n     = 5*1", start))
    out = run("--from", ice)[0]
    assert 'every = "5 months"\nanchor = "0000-01-01"' in out, out
    assert 'every = "5 days"\nanchor = "1997-01-03"' in out, out


def check_other_forms(folder):
    for text, problem in OTHER_FORMS.items():
        (folder / "other").write_text(text)
        out, err = run("--from", folder / "other", code=1)
        assert out == "" and err.startswith(f"{folder}/other: ") and problem in err, (out, err)
        assert err.count("\n") == 1, err
    assert "cannot read" in run("--from", folder, code=1)[1]
    assert "cannot read" in run(folder, code=1)[1]


def check_xml(folder):
    (folder / "fields.xml").write_text(FIELDS)
    (folder / "list").write_text("# comment\ntheta\n\nrho\n")
    path, converted = folder / "iodef.xml", folder / "converted.toml"
    for text, (parts, problems) in XML.items():
        path.write_text(text)
        out, err = run("--from", path, code=1)
        for part in parts:
            assert part in out, (part, out)
        lines = err.splitlines()
        for line, problem in zip(lines, problems.split("|"), strict=True):
            assert line.startswith(f"{path}:{problem}"), (line, problem)
        converted.write_text(out)
        if parts:
            run(converted)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        config, described = folder / "history.toml", folder / "run.toml"
        config.write_text(CONFIG)
        described.write_text(RUN)
        check(config, described)
        check_points(folder, described)
        check_cycle(folder, described)
        check_problems(folder, config, described)
        check_keys()
        check_tables(folder)
        check_ice(folder)
        check_xml(folder)
        check_other_forms(folder)


main()
