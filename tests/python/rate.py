"""How many predictions a second a loop over threads makes.   Usage: rate.py [COUNT [THREADS [LEAST_RATE]]], with the module on PYTHONPATH

Every prediction has one of 64 batch sizes, so none is the one before. Exit code 1 below LEAST_RATE.
"""
import sys
import threading
import time

import tbdsim

count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
threads = int(sys.argv[2]) if len(sys.argv) > 2 else 2
least = float(sys.argv[3]) if len(sys.argv) > 3 else 0.0


def work(numbers):
    for number in numbers:
        tbdsim.predict(hw="dgx1", model="resnet50", gpus=1, batch=1 + number % 64)


tbdsim.predict(hw="dgx1", model="resnet50")  # the catalogue is read once
workers = [threading.Thread(target=work, args=(range(first, count, threads),)) for first in range(threads)]
begun = time.perf_counter()
for worker in workers:
    worker.start()
for worker in workers:
    worker.join()
taken = time.perf_counter() - begun
print(f"{count} predictions on {threads} threads in {taken:.1f} s: {count / taken:.0f}/s")
sys.exit(count / taken < least)
