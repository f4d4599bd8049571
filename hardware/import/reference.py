#!/usr/bin/env python3
"""Reference rows that tests compare with: specifications, link relations and rings.
Usage: reference.py DATA_FOLDER [TEST_DATA_FOLDER]
"""
import csv
import os
import sys

from toml_text import rows

SPEC_PREFIX = "gpu_spec."


def write_csv(path, header, table, source):
    with open(path, "w", newline="", encoding="utf-8") as file:
        file.write(f"# Written by hardware/import/reference.py from {source}\n")
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(table)


def main():
    data = sys.argv[1]
    out = sys.argv[2] if len(sys.argv) > 2 else os.path.join(os.path.dirname(__file__), "..", "..", "tests", "hardware", "data")
    specs = [(r["seed_file"][:3], r["method"], r["quantity"].removeprefix(SPEC_PREFIX), r["value"], r["unit"])
             for r in rows(data, "seeds", "seeds_numbers.csv") if r["kind"] == "spec" and r["quantity"].startswith(SPEC_PREFIX)]
    write_csv(os.path.join(out, "printed_specs.csv"), ("document", "gpu", "quantity", "printed", "unit"), specs,
              "the GPU tables of the TBD analysis page (000) and of the UBC poster (001)")
    moves = [(r["method"], r["quantity"], r["value"], r["unit"]) for r in rows(data, "seeds", "seeds_numbers.csv")
             if r["quantity"].startswith("time_to_move_1PB")]
    write_csv(os.path.join(out, "one_petabyte.csv"), ("stage", "quantity", "value", "unit"), moves,
              "the table of common system bandwidths in the performance and profiling deck")
    relays = "two_hop_relays (relay:links_a,links_b)"
    links = [(r["system"], r["gpu_a"], r["gpu_b"], r["nvlinks"], r["per_direction_GBps_peak"], r["pcie_relation"], r["p2p_direct"], r[relays])
             for r in rows(data, "seeds", "dgx1_links.csv")]
    write_csv(os.path.join(out, "dgx1_links.csv"), ("system", "a", "b", "nvlinks", "peak_gb_s", "pcie", "p2p", "relays"), links,
              "NVIDIA/go-gpuallocator@876e7b7609bb839919e4eb06ce00607db76e907e:gpuallocator/common_test.go")
    rings = [(r["system"], r["gpus"], r["ring"], r["order"]) for r in rows(data, "seeds", "nccl_rings.csv")]
    write_csv(os.path.join(out, "nccl_rings.csv"), ("system", "gpus", "ring", "order"), rings,
              "an evaluation of NCCL 2.3.5's lexical search on the link tables of DGX-1V and DGX-1P")


if __name__ == "__main__":
    main()
