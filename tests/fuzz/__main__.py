"""``python -m tests.fuzz [NAME ...] --seconds N --seed S``: run fuzzers, say what they found."""

from __future__ import annotations

import argparse
import os
import sys
import time

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # before any thread starts: cores are shared

from tests.fuzz import make, names
from tests.fuzz.fuzzer import corpus, fuzz, keep


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[[], *names()], metavar="NAME", help=", ".join(names()))
    parser.add_argument("--seconds", type=float, default=60.0, help="of all of them together")
    parser.add_argument("--runs", type=int, help="of each, instead of a time")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--first", type=int, default=0, help="run to begin with")
    parser.add_argument("--keep", action="store_true", help="add what is found to the corpus")
    parser.add_argument("--corpus", action="store_true", help="check the corpus alone")
    options = parser.parse_args()
    fuzzers = [make(name) for name in options.names or names()]
    total = sum(fuzzer.share for fuzzer in fuzzers)
    findings = 0
    for fuzzer in fuzzers:
        began = time.monotonic()
        try:
            if options.corpus:
                found = 0
                cases = corpus(fuzzer.name)
                for name, case in cases.items():
                    what = fuzzer.check(case)
                    if what is not None:
                        found += 1
                        print(f"{name}: {what}")
                print(f"{fuzzer.name}: {len(cases)} cases of the corpus, {found} wrong", flush=True)
                findings += found
                continue
            seconds = None if options.runs else options.seconds * fuzzer.share / total
            done, wrong = fuzz(fuzzer, options.seed, seconds=seconds, runs=options.runs, first=options.first)
            if options.keep:
                for run, case, _ in wrong:
                    keep(fuzzer.name, f"{options.seed}-{run}", case)
            findings += len(wrong)
            print(
                f"{fuzzer.name}: {done} runs of seed {options.seed} in {time.monotonic() - began:.0f} s, "
                f"{len(wrong)} findings{fuzzer.summary()}",
                flush=True,
            )
        finally:
            fuzzer.close()
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
