#!/usr/bin/env python3
"""prices.csv -> hardware/prices/<provider>.toml.   Usage: prices.py DATA_FOLDER [HARDWARE_FOLDER]"""
import os
import sys

from toml_text import Table, rows, write

# Catalogue ids of the GPU labels of prices.csv; labels without one (B300) keep no device.
DEVICES = {"K80": "k80", "V100-16GB": "v100-sxm2-16gb", "V100-32GB": "v100-sxm2-32gb", "A100-40GB": "a100-sxm4-40gb",
           "A100-80GB": "a100-sxm4-80gb", "H100": "h100-sxm5-80gb", "H200": "h200-sxm-141gb", "B200": "b200-sxm-180gb",
           "L40S": "l40s", "A6000": "a6000"}


def price(row):
    t = Table("\n[[price]]").text("instance", row["instance"]).text("gpu", row["gpu"]).text("device", DEVICES.get(row["gpu"], ""))
    t.integer("gpus", row["n_gpus"]).text("region", row["region"]).text("kind", row["price_type"])
    t.amount("rent", row["usd_per_instance_hour"], "USD/h").text("snapshot", row["snapshot"])
    return str(t.text("source", "datasheet: " + row["source"]).text("notes", row["notes"]))


def main():
    data = sys.argv[1]
    out = sys.argv[2] if len(sys.argv) > 2 else os.path.join(os.path.dirname(__file__), "..")
    providers = {}
    for row in rows(data, "hardware", "prices.csv"):
        if row["usd_per_instance_hour"]:
            providers.setdefault(row["provider"], []).append(price(row))
    for provider, prices in providers.items():
        body = str(Table().text("provider", provider)) + "".join(prices)
        write(os.path.join(out, "prices", provider.lower() + ".toml"), "prices.py", body)


if __name__ == "__main__":
    main()
