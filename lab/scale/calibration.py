# SPDX-License-Identifier: Apache-2.0
"""The calibration of a simulated machine: the figures that thalweg-plan would measure."""


def rate(n, writers):
    """Returns the bytes per second of writers on as many nodes as they need."""
    one = 1 / (1 / n["writer"] + 1 / (0.95 * n["link"]))  # first the rank, then the link
    return min(writers * one, n["targets"] * n["target"])


def figures(n, ranks):
    """Returns the calibration file.
    @param n: the machine's numbers"""
    writers = [1]
    while writers[-1] < ranks:
        writers.append(min(2 * writers[-1], ranks))
    rates = [rate(n, w) if n["targets"] else 1e12 for w in writers]
    # A large message's handshake goes up and down two switches three times.
    latency = 3 * 4 * n["hop"]
    # The ranks of a node are counted in one shared word. One rank is woken, and wakes the others.
    agree = 2 * (n["wake"] + n["futex"]) + (n["cores"] - 1) * n["rouse"] + n["cores"] * n["update"]
    metadata = 1 / n["metadata"] if n["metadata"] else 0
    lines = [
        f"ranks = {ranks}",
        f"nodes = {n['nodes']:.0f}",
        f"cores = {n['cores']:.0f}",
        # The rates are for four-byte elements.
        f"pack = {4 * n['copy']:.3e}",
        f"pack_node = {4 * n['copy'] * n['cores']:.3e}",
        f"run = {n['run']:.3e}",
        f"agree = {agree:.3e}",
        f"latency = {latency:.3e}",
        f"message = {0.95 * n['link']:.3e}",
        f"inside = {0.95 * n['loopback']:.3e}",
        "[[folder]]",
        'path = "/"',
        'file_system = "lustre"',
        f"create = {metadata + n['rpc']:.3e}",
        f"rename = {metadata + n['rpc']:.3e}",
        f"call = {n['call']:.3e}",
        f"request = {n['rpc']:.3e}",
        f"lock = {n['lock']:.3e}",
        f"locks = {max(1, n['targets']):.0f}",
        "processor = 0",
        f"node_rate = {n['client'] if n['targets'] else 0:.3e}",
        f"writers = {writers}",
        f"rate = {[float(f'{r:.4g}') for r in rates]}",
    ]
    return "\n".join(lines) + "\n"
