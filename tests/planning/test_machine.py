# SPDX-License-Identifier: Apache-2.0
"""Tests calibration files, and the rate as a function of the number of writers."""

from types import SimpleNamespace

import pytest
from keys import PlanError
from machine import assumed_folder, completed, folder_of, rate_of, read_machine

GOOD = (
    "ranks = 4\nnodes = 1\ncores = 2\npack = 5e9\n"
    '[[folder]]\npath = "/scratch"\nfile_system = "lustre"\n'
    "create = 0.002\nrename = 0.001\ncall = 1e-4\nwriters = [1, 4]\nrate = [1e9, 3e9]\n"
)


def read(folder, text):
    path = folder / "m.toml"
    path.write_text(text)
    return read_machine(path)


def test_missing_figures_are_assumed(tmp_path):
    machine = read(tmp_path, GOOD)
    assert machine.pack == 5e9 and machine.message == 5e9
    folder = completed(machine.folders[0], "parallel")
    assert folder.lock == assumed_folder("parallel").lock and folder.create == 0.002
    assert folder.durable == folder.rate == [1e9, 3e9]
    assert completed(read(tmp_path, GOOD + "lock = 0\n").folders[0], "parallel").lock == 0


def test_rates_between_and_beyond_what_was_measured():
    folder = SimpleNamespace(writers=[1, 4], rate=[1e9, 3e9], durable=[5e8, 5e8])
    for writers, rate in ((1, 1e9), (2.5, 2e9), (4, 3e9), (1000, 3e9)):
        assert rate_of(folder, writers, False) == pytest.approx(rate)
    assert rate_of(folder, 1000, True) == 5e8
    folder.writers = [2, 4]  # one of two writers writes half of it
    assert rate_of(folder, 1, False) == 5e8


def test_the_folder_of_a_path():
    names = {"/scratch": "lustre", "/scratch/fast": "lustre", "/home": "nfs"}
    folders = [SimpleNamespace(path=path, file_system=name) for path, name in names.items()]
    machine = SimpleNamespace(folders=folders)
    assert folder_of(machine, "/scratch/run", "lustre").path == "/scratch"
    assert folder_of(machine, "/scratch/fast/run", "lustre").path == "/scratch/fast"
    assert folder_of(machine, "/scratchy", "nfs").path == "/home"
    assert folder_of(machine, "/data", "ext4") is None


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("cores = 2\n", "", ": the key 'cores' is missing"),
        ("ranks", "speed = 1\nranks", ": unknown key 'speed'; the keys are ranks, nodes, cores"),
        ("ranks", "packs = 1\nranks", ": unknown key 'packs'; did you mean 'pack'?"),
        ("ranks", "latency = -1\nranks", ": key 'latency': expected a number >= 0"),
        ("ranks", "latency = nan\nranks", ": key 'latency': expected a number >= 0"),
        ("ranks", "message = 0\nranks", ": key 'message': expected a number > 0"),
        ("ranks", 'message = "5"\nranks', ": key 'message': expected a number >= 0"),
        ("call = 1e-4\n", "", ": [[folder]] 1: the key 'call' is missing"),
        ("call", "durable = [1]\ncall", "key 'durable': expected as many numbers as 'writers' has"),
        ("[1, 4]", "[4, 1]", ": [[folder]] 1: key 'writers': expected an ascending list"),
        ("[1e9, 3e9]", "[]", ": [[folder]] 1: key 'rate': expected a list of numbers > 0"),
        ("rate =", "rats =", ": [[folder]] 1: unknown key 'rats'; did you mean 'rate'?"),
        ("ranks = 4", "ranks = ", ", line 1: "),
    ],
)
def test_errors_name_the_file_and_the_key(tmp_path, old, new, error):
    with pytest.raises(PlanError) as found:
        read(tmp_path, GOOD.replace(old, new, 1))
    assert str(found.value).startswith(str(tmp_path / "m.toml")) and error in str(found.value)
