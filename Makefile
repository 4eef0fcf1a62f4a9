# Thin front of scripts/: every target can also be had by calling its script.
# ROS=off builds and tests as on a machine without ROS 2; unset, ROS 2 is used where it is installed.

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help setup build test test-sanitize test-fresh test-mutate sim bench bench-laws fuzz lint format clean
export ROS FUZZ_SECONDS

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-14s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

setup:  ## install the distribution's packages that `make sim` needs and that are missing
	@scripts/setup.sh

build:  ## build every package (Release, warnings are errors)
	@scripts/setup.sh --for bench
	@scripts/build.sh

test:  ## build, run every test this machine can run, say what it could not run
	@scripts/setup.sh --for bench --for test
	@scripts/test.sh

test-sanitize:  ## run the tests under the address and undefined-behavior sanitizers
	@scripts/setup.sh --for bench --for test
	@scripts/test.sh sanitize

test-fresh:  ## do what the README says in bare root file systems (ARGS="debian-root" for one of them; needs root)
	@scripts/setup.sh --for fresh
	@scripts/test_fresh.sh $(ARGS)

test-mutate:  ## inject faults, one at a time, and report those that no test notices (ARGS="..." is passed on)
	@scripts/setup.sh --for bench --for test
	@scripts/mutate.py $(ARGS)

sim: setup  ## simulate the PUMA under computed-torque control and write a report (ARGS="..." is passed on)
	@scripts/build.sh sim
	@scripts/sim.sh $(ARGS)

bench:  ## measure the algorithms' speed (ARGS="..." is passed on)
	@scripts/setup.sh --for bench
	@scripts/build.sh
	@scripts/bench.sh $(ARGS)

bench-laws:  ## compare the control laws in the scenarios of the law score (ARGS="..." is passed on)
	@scripts/setup.sh --for bench
	@scripts/build.sh
	@scripts/bench_laws.sh $(ARGS)

fuzz:  ## fuzz the URDF reader for FUZZ_SECONDS (60)
	@scripts/setup.sh --for fuzz
	@scripts/fuzz.sh

lint:  ## check formatting, scripts, Python, XML and spelling
	@scripts/setup.sh --for lint
	@scripts/lint.sh

format:  ## format the C++ sources in place
	@scripts/setup.sh --for lint
	@scripts/lint.sh --fix

clean:  ## remove everything that was built
	rm -rf build
