# The short names of the usual tasks; the build itself is CMake's (CMakePresets.json lists the presets).
# Any target takes another preset: make test PRESET=asan

PRESET ?= release
PREFIX ?= /usr/local
BUILD  := $(if $(filter release,$(PRESET)),build,build-$(PRESET))

.PHONY: all demo test long lint bench mutants install clean help setup
.DEFAULT_GOAL := all
.DELETE_ON_ERROR:

all: $(BUILD)/build.ninja  ## build the preset (default: release, in build/)
	@cmake --build --preset $(PRESET)

demo: all  ## find the race in a small example
	@BUILD=$(BUILD) scripts/demo

test: all  ## build, then run every test but the long ones
	@ctest --preset $(PRESET) --output-on-failure -j $$(nproc) -LE long

long: all  ## the tests that take minutes
	@ctest --preset $(PRESET) --output-on-failure -L long

lint: setup  ## format, clang-tidy, arrows between rooms, no warning from either compiler; SINCE=REV: clang-tidy of what changed
	@scripts/lint $(SINCE)

bench: all  ## measure against the peers
	@bench/run

mutants: all  ## break the engines on purpose: the tests must notice
	@python3 tests/mutants/run.py

install: all  ## install to PREFIX (default /usr/local), below DESTDIR if given
	@cmake --install $(BUILD) --prefix $(PREFIX)

clean:  ## remove the build folders of all presets
	@rm -rf build build-*/

help:  ## list the targets
	@sed -nE 's/^([a-z]+):.*## (.*)/make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 16

# After this, ninja itself notices what changed in the CMake files.
$(BUILD)/build.ninja: CMakePresets.json | setup
	@cmake --preset $(PRESET)

setup:
	@scripts/setup
