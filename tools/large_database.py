#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a database of a large campaign from that of a small one, to measure reports with.

    mapsim sweep campaign.yaml --db small.sqlite
    tools/large_database.py small.sqlite large.sqlite --designs 100000
    mapsim report large.sqlite -o large.html

Every design gets the results of a design of the small campaign, with other energies, cycles and areas, drawn
by a seed. Its input is a line of text in place of an architecture.
"""
import argparse
import json
import os
import random
import sqlite3


def fnv1a(text):
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"{value:016x}"


def scaled(row, names, energy, time, area):
    row = dict(zip(names, row))
    factors = {"energy_pj": energy, "latency_seconds": time, "edp": energy * time, "area_mm2": area}
    for name, factor in factors.items():
        row[name] = None if row[name] is None else row[name] * factor
    for name in ("latency_cycles", "latency_cycles_ramped"):
        row[name] = None if row[name] is None else round(row[name] * time)
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("small")
    parser.add_argument("large")
    parser.add_argument("--designs", type=int, default=100_000)
    arguments = parser.parse_args()
    if os.path.exists(arguments.large):
        parser.error(f"{arguments.large} is there already")
    source = sqlite3.connect(arguments.small)
    source.execute("VACUUM INTO ?", (arguments.large,))
    database = sqlite3.connect(arguments.large)
    names = [column[1] for column in database.execute("PRAGMA table_info(results)")]
    (campaign, arch, settings, template) = database.execute(
        "SELECT d.campaign, d.arch, d.settings, d.design FROM designs AS d JOIN results USING (design)"
        " WHERE energy_pj IS NOT NULL GROUP BY d.campaign, d.number ORDER BY d.campaign, d.number LIMIT 1"
    ).fetchone()
    results = database.execute("SELECT * FROM results WHERE design = ?", (template,)).fetchall()
    for table in ("designs", "results"):
        database.execute(f"DELETE FROM {table}")
    database.execute("DELETE FROM inputs WHERE kind = 'design'")
    database.execute("DELETE FROM campaigns WHERE campaign <> ?", (campaign,))
    database.execute("UPDATE campaigns SET designs = ?", (arguments.designs,))
    draw = random.Random(1)
    path = next(iter(json.loads(settings)), "nodes.Buffer.capacity")
    marks = ", ".join("?" * len(names))
    for number in range(arguments.designs):
        text = f"design {number}\n"
        design = fnv1a(text)
        energy, time = draw.lognormvariate(0, 0.5), draw.lognormvariate(0, 0.5)
        area = draw.uniform(0.5, 2) / (energy * time) ** 0.5
        words = json.dumps({path: f"{number + 1} B", "nodes.PEs.x": 1 + number % 64}, separators=(",", ":"))
        database.execute("INSERT INTO inputs VALUES (?, 'design', ?)", (design, text))
        database.execute("INSERT INTO designs VALUES (?, ?, ?, ?, ?)", (campaign, number, arch, words, design))
        for result in results:
            row = scaled(result, names, energy, time, area)
            row["design"] = design
            database.execute(f"INSERT INTO results VALUES ({marks})", [row[name] for name in names])
    database.commit()


if __name__ == "__main__":
    main()
