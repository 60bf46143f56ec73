#!/usr/bin/env python3
"""Sums up states of carisma (docs/engines/carisma.md has their bytes); `partly` counts the contexts that were not sampled
at 100% in every trial."""
import struct
import sys

for name in sys.argv[1:]:
    data = open(name, "rb").read()
    trials, = struct.unpack_from("<Q", data, 24)
    records = [struct.unpack_from("<QQQ", data, at) for at in range(32, len(data), 24)]
    partly = sum(rates != trials << 32 for _, _, rates in records)
    samples = sum(samples for _, samples, _ in records)
    print(f"trials {trials}, contexts {len(records)}, partly {partly}, samples {samples}")
