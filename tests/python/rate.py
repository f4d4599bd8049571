"""Prints how many predictions a second a loop over threads makes.   Usage: rate.py [COUNT [THREADS]], with the module on PYTHONPATH

Every prediction has one of 64 batch sizes, so none is the one before. Processor time tells more than the clock on a machine that
has other work; the bar is in tests/bench.
"""
import sys
import threading
import time

import tbdsim

count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
threads = int(sys.argv[2]) if len(sys.argv) > 2 else 2


def work(numbers):
    for number in numbers:
        tbdsim.predict(hw="dgx1", model="resnet50", gpus=1, batch=1 + number % 64)


tbdsim.predict(hw="dgx1", model="resnet50")  # the catalogue is read once
workers = [threading.Thread(target=work, args=(range(first, count, threads),)) for first in range(threads)]
begun, used = time.perf_counter(), time.process_time()
for worker in workers:
    worker.start()
for worker in workers:
    worker.join()
taken, used = time.perf_counter() - begun, time.process_time() - used
print(f"{count} predictions on {threads} threads in {taken:.1f} s: {count / taken:.0f}/s, {1e3 * used / count:.2f} ms of a processor each")
