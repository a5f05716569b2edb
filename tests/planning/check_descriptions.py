# SPDX-License-Identifier: Apache-2.0
"""Tests plans of the descriptions in examples/plan, and of wrong ones: check_descriptions.py
PROGRAM ROOT.

The figures of POP are compared with those that Huang et al. 2014 measured.
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(sys.argv[2])
PLAN = [sys.executable, ROOT / "lab" / "plan", "--program", sys.argv[1]]
EXAMPLES = ROOT / "examples" / "plan"
SERVICES = {"inline", "background", "servers"}
METHODS = {"record", "slabs", "rows", "columns", "tiles", "direct", "serial"}
problems: list[str] = []


def check(truth: bool, text: str) -> None:
    if not truth:
        problems.append(text)


def near(a: float, b: float, tolerance: float = 1e-9) -> bool:
    return abs(a - b) <= tolerance * max(abs(a), abs(b))


def run(*arguments: object) -> subprocess.CompletedProcess:
    # A plan needs no launcher.
    return subprocess.run(
        [*map(str, [*PLAN, *arguments])], capture_output=True, text=True, timeout=60
    )


def plan_of(path: Path, *arguments: object) -> dict:
    done = run(path, "--json", *arguments)
    check(done.returncode == 0, f"{path.name}: {done.stderr}")
    return json.loads(done.stdout)


def changed(folder: Path, old: str, new: str, name: str = "fv-d.toml") -> Path:
    """Returns a description in which one text is replaced."""
    text = (EXAMPLES / name).read_text()
    check(text.count(old) > 0, f"{name} has no {old!r}")
    path = folder / "run.toml"
    path.write_text(text.replace(old, new, 1))
    return path


def check_description(path: Path) -> None:
    begin = time.monotonic()
    plan = plan_of(path)
    check(time.monotonic() - begin < 10, f"{path.name} took {time.monotonic() - begin:.0f} s")
    options = plan["options"]
    check({o["service"] for o in options} == SERVICES, f"{path.name}: services")
    lists = "list_run" in path.read_text()
    methods = METHODS - {"rows", "columns", "tiles"} if lists else METHODS
    check({o["method"] for o in options} == methods, f"{path.name}: methods")
    best = plan["best"]
    check(best["why_not"] == "" and best["fits"], f"{path.name}: best {best}")
    check(sum(o["why_not"] == "" for o in options) == 1, f"{path.name}: more than one best")
    for o in options:
        what = f"{path.name}: {o['service']} {o['method']}"
        check(o["run_seconds"] >= plan["compute_seconds"], f"{what}: faster than computing")
        check(0 <= o["hidden"] <= 1 and 0 <= o["share_of_run"] <= 1, f"{what}: not a part")
        check(o["service"] != "inline" or o["hidden"] == 0, f"{what}: hidden")
        check(all(t >= 0 for t in o["terms"].values()), f"{what}: {o['terms']}")
        if o["fits"]:
            check(best["run_seconds"] <= 1.005 * o["run_seconds"], f"{what}: faster than best")
    curve = plan["servers"]["curve"]
    numbers = [o["servers"] for o in curve]
    check(numbers == sorted(set(numbers)), f"{path.name}: servers {numbers}")
    check(plan["servers"]["best"] in numbers, f"{path.name}: best of {numbers}")
    text = run(path)
    check(text.returncode == 0 and "Best: service=" in text.stdout, f"{path.name}: {text}")


def check_sizes() -> None:
    """Checks the bytes of an output, as in the papers' tables."""
    cells = {"fv-b": (144, 91), "fv-c": (288, 181), "fv-d": (576, 361), "t85": (256, 128)}
    for name, (lon, lat) in cells.items():
        wanted = 4 * lon * (lat * (34 * 26 + 60) + 49) + 2 * 8
        plan = plan_of(EXAMPLES / f"{name}.toml")
        check(plan["bytes_of_an_output"] == wanted, f"{name}: {plan['bytes_of_an_output']}")
    check(plan_of(EXAMPLES / "kilometre.toml")["ranks"] >= 98304, "kilometre: few ranks")


def check_pop() -> None:
    """Checks the seconds of POP's run: serial 3246, 32 servers 471, 64 servers 413."""
    plan = plan_of(EXAMPLES / "pop.toml")
    seconds = {o["servers"]: o["run_seconds"] for o in plan["servers"]["curve"]}
    serial = next(
        o for o in plan["options"] if o["service"] == "inline" and o["method"] == "serial"
    )
    for wanted, got in ((3246, serial["run_seconds"]), (471, seconds[32]), (413, seconds[64])):
        check(near(wanted, got, 0.15), f"POP: {got:.0f} s instead of {wanted}")
    check(plan["servers"]["pay"], "POP: servers do not pay")
    check(seconds[1] > seconds[8] > seconds[32], "POP: more servers take longer")
    check(seconds[512] > seconds[64], "POP: servers cost no ranks")


def check_layouts(folder: Path) -> None:
    """Checks properties of layouts that were computed by hand: numbers of writes, and bytes
    between nodes."""
    options = described(folder, "writers = '1/node'\n")["options"]
    inline = {(o["method"], o["own_files"]): o for o in options if o["service"] == "inline"}
    mib = 2**20
    record, rows = inline["record", False], inline["rows", False]
    # 32 MiB by two writers in pieces of 2 MiB; half of each share is on the other node.
    check(record["writers"] == 2 and record["writes_of_a_writer"] == 8, f"record: {record}")
    check(record["bytes_between_nodes"] == 8 * mib, f"record: {record['bytes_between_nodes']}")
    # A rank's rows of a level are 1 MiB in one run.
    check(rows["writers"] == 4 and rows["writes_of_a_writer"] == 8, f"rows: {rows}")
    check(rows["bytes_between_nodes"] == 0, f"rows: {rows['bytes_between_nodes']}")
    check(inline["direct", False]["writes_of_a_writer"] == 8, f"direct: {inline}")
    check(inline["serial", False]["bytes_between_nodes"] == 16 * mib, "serial")
    check(inline["tiles", True]["files"] == 2, f"tiles: {inline['tiles', True]}")
    check(record["files"] == 1, f"files: {record['files']}")


CORES = 2
BASE = (
    "ranks = 4\nnodes = 2\ncores = {cores}\nfile_system = '{fs}'\nstep_seconds = 1\n"
    "output_interval = 1\noutputs = 1\ndecomposition = '{cut}'\n{more}"
    "[dimensions]\ny = 1024\nx = 1024\nz = 8\n"
    "[[variables]]\ntype = 'float'\ndims = 'z y x'\n"
)


def described(
    folder: Path, more: str, file_system: str = "lustre", cut: str = "y=4", cores: int = CORES
) -> dict:
    path = folder / "run.toml"
    path.write_text(BASE.format(fs=file_system, cut=cut, more=more, cores=cores))
    return plan_of(path)


def of(plan: dict, service: str, method: str) -> dict:
    rows = [o for o in plan["options"] if (o["service"], o["method"]) == (service, method)]
    check(bool(rows), f"{service} {method}: not planned")
    return rows[0]


def check_storage(folder: Path) -> None:
    """Checks which combinations are possible for PnetCDF, compressed netCDF-4 and lists, and
    terms that were computed by hand."""
    mib = 2**20
    plan = described(folder, "writers = '1/node'\nstorage = 'pnetcdf'\n")
    check({o["service"] for o in plan["options"]} == {"inline"}, "pnetcdf: services")
    check(not any(o["own_files"] for o in plan["options"]), "pnetcdf: own files")
    check(plan["servers"]["curve"] == [] and not plan["servers"]["pay"], "pnetcdf: servers")
    record = of(plan, "inline", "record")
    # 16 MiB per writer in rounds of 8 MiB: each round has an agreement and a call, and sends half
    # of the bytes.
    wanted = 2 * (record["terms"]["agree"] / 2 + 5.2e-4) + 16 * mib / 5e9
    check(near(record["terms"]["rounds"], wanted), f"pnetcdf: {record['terms']}, not {wanted}")
    plain = of(described(folder, "writers = '1/node'\n"), "inline", "record")
    check(plain["terms"]["rounds"] == 0, f"posix: {plain['terms']}")
    check(record["seconds_in_calls"] > plain["seconds_in_calls"], "pnetcdf is faster")

    packed = "storage = 'netcdf4'\ndeflate = 1\n"
    plan = described(folder, packed + "compressed_to = 0.25\n")
    ways = {(o["service"], o["method"]) for o in plan["options"] if not o["own_files"]}
    services = {"inline", "background", "servers"}
    wanted_ways = {(s, m) for s in services for m in ("serial", "record")}
    check(ways == wanted_ways, f"deflate: {ways}")
    record, serial = of(plan, "inline", "record"), of(plan, "inline", "serial")
    check(record["writers"] == 4, f"deflate: {record['writers']} writers")
    check(near(record["terms"]["compress"], 8 * mib / 1e8), f"deflate: {record['terms']}")
    check(near(serial["terms"]["compress"], 32 * mib / 1e8), f"deflate: {serial['terms']}")
    # Writers are threads on free cores, or one thread per rank; any number of servers is possible.
    threads = of(plan, "background", "record")
    check(threads["writers"] == 4, f"deflate, background: {threads['writers']} writers")
    check(near(threads["terms"]["compress"], 8 * mib / 1e8), f"background: {threads['terms']}")
    few = of(described(folder, packed, cores=3), "background", "record")
    check(few["writers"] == 2, f"deflate, a free core of a node: {few['writers']} writers")
    check(few["seconds_slower"] == 0, f"a free core of a node: {few['seconds_slower']} s")
    curve = plan["servers"]["curve"]
    check([n["servers"] for n in curve] == [1, 2], f"deflate: {curve}")
    check(
        curve[1]["seconds_in_background"] < 0.6 * curve[0]["seconds_in_background"],
        f"deflate, servers: {curve}",
    )
    half = of(described(folder, packed), "inline", "record")
    calls = record["writes_of_a_writer"] * 2e-5
    ratio = (half["terms"]["write"] - calls) / (record["terms"]["write"] - calls)
    check(near(ratio, 2), f"compressed_to: {ratio}")

    plan = described(folder, "writers = '1/node'\nlist_run = 16\n", cut="x=4")
    check("rows" not in {o["method"] for o in plan["options"]}, "lists: rows")
    record, direct = of(plan, "inline", "record"), of(plan, "inline", "direct")
    check(near(record["bytes_between_nodes"], 8 * mib), f"lists: {record['bytes_between_nodes']}")
    check(direct["writes_of_a_writer"] == 2 * mib / 16, f"lists: {direct['writes_of_a_writer']}")
    boxes = of(described(folder, "writers = '1/node'\n", cut="x=4"), "inline", "record")
    runs = 2 * mib / 16 * 5e-9
    check(
        near(record["terms"]["pack"] - boxes["terms"]["pack"], runs, 1e-6),
        f"lists: {record['terms']['pack']}, {boxes['terms']['pack']}",
    )


def check_reading(folder: Path) -> None:
    """Checks that, if all ranks read, long runs of a rank are read by the rank itself, and
    otherwise by readers."""
    straight = described(folder, "", "xfs")["reading"]
    check(not straight["exchanged"] and straight["readers"] == 4, f"reading: {straight}")
    short = described(folder, "", "xfs", "x=4")["reading"]
    check(short["exchanged"] and short["seconds"] > straight["seconds"], f"reading: {short}")
    lists = described(folder, "list_run = 1000\n", "xfs")["reading"]
    check(lists["exchanged"], f"reading: {lists}")
    few = plan_of(EXAMPLES / "fv-d.toml")["reading"]
    check(few["exchanged"] and few["readers"] == 64, f"reading: {few}")
    text = run(EXAMPLES / "fv-d.toml").stdout
    check("Reading an output back, as after a restart: " in text, "reading is not told")


def check_choices(folder: Path) -> None:
    """Checks that the plan depends on the description."""
    # With free cores, the output is hidden.
    free = plan_of(changed(folder, "cores = 16", "cores = 24"))
    full = plan_of(EXAMPLES / "fv-d.toml")
    pick = lambda plan: next(  # noqa: E731
        o for o in plan["options"] if o["service"] == "background" and o["method"] == "record"
    )
    check(pick(free)["seconds_slower"] == 0 < pick(full)["seconds_slower"], "free cores")
    check(pick(free)["hidden"] > pick(full)["hidden"], "hidden with free cores")
    # Twice the outputs take twice the time; and a case with too little memory.
    twice = plan_of(changed(folder, "outputs = 240", "outputs = 480"))
    check(near(2 * full["compute_seconds"], twice["compute_seconds"]), "compute_seconds")
    small = plan_of(changed(folder, '"32 GiB"', '"1MiB"'))
    check(not any(o["fits"] for o in small["options"]), "fits into 1 MiB")
    check("node's memory of" in small["options"][-1]["why_not"], "too little memory is not told")
    check(
        plan_of(changed(folder, "ranks = 256", "ranks = 256\ndurable = true"))["outputs"] == 240,
        "durable",
    )


def check_wrong(folder: Path) -> None:
    cases = [
        ("ranks = 256", "rankss = 256", "unknown key 'rankss'; did you mean 'ranks'?"),
        ("ranks = 256\n", "", "the key 'ranks' is missing"),
        ("ranks = 256", "ranks = '256'", "key 'ranks': expected an integer >= 1"),
        ("ranks = 256", "ranks = 0", "key 'ranks': expected an integer >= 1"),
        ("ranks = 256", "ranks = 255", "key 'decomposition': it has 256 parts, but there are 255"),
        ("ranks = 256", "ranks = ", "line 4"),
        ("nodes = 16", "nodes = 1000", "key 'nodes': more nodes than ranks (256)"),
        ('"gpfs"', '"fat"', "key 'file_system': unknown file system 'fat'; known are ext4"),
        ('"32 GiB"', '"32 GB"', "key 'memory': expected a size in bytes"),
        ("step_seconds = 1.2", "step_seconds = -1", "key 'step_seconds': expected a number >= 0"),
        ("step_seconds = 1.2", "step_seconds = inf", "key 'step_seconds': expected a number >= 0"),
        ("lat=64,lev=4", "lat=64,lvl=4", "key 'decomposition': unknown dimension 'lvl'"),
        ("lat=64,lev=4", "lat=4,lev=64", "dimension 'lev' of length 26 cannot be cut into 64"),
        ("lat=64,lev=4", "lat=64,lev", "expected a number of parts for each dimension"),
        ("lat=64,lev=4", "lat=64,lat=4", "dimension 'lat' is named twice"),
        ("lat=64,lev=4", "lat=64,lev=x", "'lev=x': expected a number from 1 to 256"),
        ("lat=64,lev=4", "", "expected dimensions, such as"),
        ("lat = 361", "lat = 3.5", "[dimensions]: key 'lat': expected an integer >= 1"),
        ("lev lat lon", "time lev lat lon", "[[variables]] 1: key 'dims': unknown dimension"),
        ("lev lat lon", "lev lat lat", "[[variables]] 1: key 'dims': dimension 'lat' is named"),
        ('"float"', '"real"', "[[variables]] 1: key 'type': unknown type 'real'"),
        ("count = 34", "count = 0", "[[variables]] 1: key 'count': expected an integer >= 1"),
        ("count = 34", "number = 34", "[[variables]] 1: unknown key 'number'"),
        ("lon = 576", "lon = 5760000000000000", "bytes is too large"),
        ("ranks = 256", "calibration = 'none.toml'\nranks = 256", "none.toml: No such file"),
        ("ranks = 256", "writers = '0'\nranks = 256", "key 'writers': expected auto"),
        ("ranks = 256", "storage = 'zarr'\nranks = 256", "key 'storage': 'zarr': expected posix"),
        ("ranks = 256", "deflate = 1\nranks = 256", "key 'deflate': only with storage"),
        ("ranks = 256", "compressed_to = 0.5\nranks = 256", "key 'compressed_to': expected"),
        ("ranks = 256", "list_run = 0.5\nranks = 256", "key 'list_run': expected 1 or more"),
    ]
    for old, new, text in cases:
        path = changed(folder, old, new)
        done = run(path)
        check(done.returncode == 1, f"{new!r}: exit status {done.returncode}")
        check(text in done.stderr, f"{new!r}: {done.stderr!r} has no {text!r}")
        check(str(path) in done.stderr or "none.toml" in text, f"{new!r}: {done.stderr!r}")
    missing = run(folder / "no.toml")
    check(missing.returncode == 1 and "No such file" in missing.stderr, f"missing: {missing}")
    folder_given = run(folder)
    check(folder_given.returncode == 1 and "directory" in folder_given.stderr, f"{folder_given}")
    check(run().returncode == 2, "no argument")
    other = folder / "other.toml"
    other.write_text("ranks = 1\nnodes = 1\ncores = 1\n")
    done = run(EXAMPLES / "fv-b.toml", "--calibration", other)
    check(done.returncode == 1 and "no [[folder]] of file system 'gpfs'" in done.stderr, f"{done}")


def main() -> int:
    descriptions = [p for p in sorted(EXAMPLES.glob("*.toml")) if "step_seconds" in p.read_text()]
    check(len(descriptions) >= 8, f"few examples: {descriptions}")
    for path in descriptions:
        check_description(path)
    check_sizes()
    check_pop()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        check_layouts(folder)
        check_storage(folder)
        check_reading(folder)
        check_choices(folder)
        check_wrong(folder)
    print("\n".join(problems) or "plans: ok")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
