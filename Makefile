# SPDX-License-Identifier: Apache-2.0
# The development tasks of this project. `make help` lists them.

SWIFT ?= swift
# Treats warnings as errors. Packages that depend on Martlet build without this variable.
export MARTLET_STRICT = 1
# With more tests in parallel, tests compete for the processor and peers time out.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH = 6
# Tests that use both cores for a minute or more; they run after the others.
BUSY_TESTS = PeerTests\.(ClockTests|CrashTests|FleetTests|JobCrashTests|RelayMemoryTests|SurfaceCrashTests)|MartletRelayTests\.LoadTests
# One build serves tests, programs, examples and documentation: release, or debug.
CONFIGURATION ?= release
# The tests see internal interfaces, also of optimised modules.
export BUILD_FLAGS = --configuration $(CONFIGURATION) $(if $(filter release,$(CONFIGURATION)),-Xswiftc -enable-testing)
BUILD = $(SWIFT) build $(BUILD_FLAGS)
# The programs that are measured are built as packages build them.
BUILD_BENCH = $(SWIFT) build --configuration release --static-swift-stdlib --scratch-path .build-bench
# Proxies of the machine are for packages, and not for what is tested.
NO_PROXIES = $(foreach name,HTTPS_PROXY https_proxy HTTP_PROXY http_proxy ALL_PROXY all_proxy,-u $(name))
RUN_TESTS = env $(NO_PROXIES) MARTLET_PROGRAM=$(PROGRAM) $(SWIFT) test $(BUILD_FLAGS) --skip-build --disable-xctest
# The modules of the library products.
API_MODULES = MartletCore LiveSurfaces Martlet MartletSimulator
PROGRAM = $(CURDIR)/.build/$(CONFIGURATION)/martlet
# The Python environment of the tests and benchmarks, created by Scripts/prerequisites.
export MARTLET_PYTHON = $(CURDIR)/.build/python/bin/python3

# Homebrew does not link these formulas: the system's openssl is another library, and psql is missing.
ifeq ($(shell uname),Darwin)
HOMEBREW := $(firstword $(wildcard /opt/homebrew /usr/local))
export PATH := $(HOMEBREW)/opt/openssl@3/bin:$(PATH):$(lastword $(wildcard $(HOMEBREW)/opt/postgresql*/bin))
endif

.DEFAULT_GOAL := help
.PHONY: demo fleet-demo people-demo surfaces-demo surfaces-comparison test first-push walks repeat cost simulate sanitize fuzz lint format bench bench-compare screenshots unit package check-package check-checks docs api phone release-notes traits clean help

demo: ## Build, start the APNs simulator, send pushes to it and show every response
	@Scripts/prerequisites build
	@echo "Building Martlet, which takes some minutes the first time"
	@$(BUILD) --product martlet
	@$(PROGRAM) demo

fleet-demo: ## Run three relays on one PostgreSQL, kill one, and check that no push is lost
	@Scripts/prerequisites build scripts fleet
	@$(BUILD) --product martlet
	@Scripts/fleet-demo $(PROGRAM)

people-demo: ## Import phones, send to those with a tag, kill a relay, and check the outcome of each phone
	@Scripts/prerequisites build scripts fleet
	@$(BUILD) --product martlet
	@Scripts/people-demo $(PROGRAM)

surfaces-demo: ## Keep a surface right on simulated phones, kill the relay, and print the account of each phone
	@Scripts/prerequisites build examples
	@$(BUILD) --product martlet
	@$(BUILD) --product MartletPhones
	@Scripts/surfaces-demo $(PROGRAM)

surfaces-comparison: ## Compare a relay with loops over tokens on simulated phones for 12 minutes; CHANGES=3 takes two
	@Scripts/prerequisites build examples bench
	@$(BUILD) --product martlet
	@$(MARTLET_PYTHON) Scripts/surfaces-comparison $(PROGRAM) $(PHONES:%=--phones %) $(CHANGES:%=--changes %)

test: ## Run all tests, including those with other programs, on the optimised build; CONFIGURATION=debug tests the other
	@Scripts/prerequisites build test examples
	@Scripts/timed "build" $(BUILD) --build-tests
	@Scripts/timed "the phone's side" Scripts/check phone
	@Scripts/timed "workflows" Scripts/check workflows
	@Scripts/timed "deployment" Scripts/check deployment $(PROGRAM)
	@Scripts/timed "examples" Scripts/check examples $(PROGRAM)
	@Scripts/timed "documentation" Scripts/check documentation $(PROGRAM)
	@Scripts/timed "suites" Scripts/run-tests .build/tests-$(CONFIGURATION).log $(RUN_TESTS) --parallel --skip "$(BUSY_TESTS)"
	@Scripts/timed "crashes, load and memory" \
		Scripts/run-tests .build/busy-tests-$(CONFIGURATION).log $(RUN_TESTS) --parallel --filter "$(BUSY_TESTS)"
	@Scripts/timed "pages in Chromium" Scripts/walks $(PROGRAM)

first-push: ## Follow the article "Send and test a first push" from its first command
	@Scripts/prerequisites build examples
	@Scripts/check first-push

walks: ## Test the web pages in Chromium; ONLY="walk_list walk_speed" runs some, MARTLET_MEASURE=1 checks their times, too
	@Scripts/prerequisites build test
	@$(BUILD) --product martlet
	@Scripts/walks $(PROGRAM) $(ONLY)

repeat: export RUN_TESTS := $(RUN_TESTS)
repeat: ## Repeat suites and walks RUNS times beside LOAD busy processes; ONLY is suites, walks, a walk or a filter of suites
	@Scripts/prerequisites build test
	@$(BUILD) --build-tests
	@Scripts/repeat $(PROGRAM) $(or $(RUNS),10) $(or $(LOAD),4) $(ONLY)

cost: ## Count the instructions of a push, and compare them with Benchmarks/instructions.json; WRITE=1 stores them
	@Scripts/prerequisites build bench cost
	@$(BUILD_BENCH) --product MartletBench
	@$(BUILD_BENCH) --product martlet
	@$(MARTLET_PYTHON) Benchmarks/cost.py $(if $(WRITE),--write)

simulate: ## Run SEEDS simulations with failing servers, from SEED on, or repeat the one of SEED
	@Scripts/prerequisites build
	@$(BUILD) --build-tests
	@MARTLET_SEED=$(SEED) MARTLET_SEEDS=$(SEEDS) $(RUN_TESTS) --filter SimulationTests

sanitize: ## Run the tests with the thread sanitizer, then with the address sanitizer
	@Scripts/prerequisites build test
	@Scripts/sanitize thread
	@Scripts/sanitize address

fuzz: ## Fuzz the parsers of snapshots, queries and JSON for FOR seconds (default 120), then the relay's input
	@Scripts/prerequisites build
	@Scripts/fuzz $(FOR)

lint: ## Check formatting, and everything else that needs no build
	@Scripts/prerequisites scripts
	@$(SWIFT) format lint --strict --recursive --parallel Package.swift Sources Tests Examples Snippets
	@Scripts/check style targets embedded availability interface

format: ## Format every Swift file in place
	@Scripts/prerequisites
	@$(SWIFT) format format --in-place --recursive --parallel Package.swift Sources Tests Examples Snippets

bench: ## Measure the cost of a push relative to other programs; ONLY="bulk" measures one, INSTALLATIONS=20000 uses few phones and surfaces, UPDATES=153 a whole evening
	@Scripts/prerequisites build bench fleet
	@$(BUILD_BENCH) --product MartletBench
	@$(BUILD_BENCH) --product martlet
	@$(MARTLET_PYTHON) Benchmarks/bench.py $(ONLY:%=--only %) $(INSTALLATIONS:%=--installations %) $(UPDATES:%=--updates %)

bench-compare: bench ## Measure, and compare each figure with Benchmarks/baseline.json
	@$(MARTLET_PYTHON) Benchmarks/compare.py

screenshots: ## Create the screenshots of all pages for the documentation, or in the directory TO
	@Scripts/prerequisites build test screenshots
	@$(BUILD) --product martlet
	@$(MARTLET_PYTHON) Scripts/screenshots $(PROGRAM) $(or $(TO),Documentation/Screenshots)

unit: ## Check the relay's systemd unit in a Debian container (requires root)
	@Scripts/prerequisites build unit
	@$(BUILD) --product martlet
	@Scripts/check-unit $(PROGRAM)

package: ## Build a Debian package, a portable archive and an OCI image in .build/packages, with lists of components
	@Scripts/prerequisites build scripts package
	@Scripts/package

check-package: package ## Build the packages, install, upgrade and remove them in Debian containers (requires root)
	@Scripts/prerequisites check-package unit
	@Scripts/check-package

check-checks: ## Plant a mistake for each check, and require that the check fails; ONLY=style plants those of one check
	@Scripts/prerequisites build test examples
	@Scripts/symbol-graphs .build/symbol-graphs $(API_MODULES)
	@Scripts/check mistakes $(PROGRAM) $(ONLY)

docs: ## Build the documentation as a website in .build/docs, and check the recorded public interface
	@Scripts/prerequisites build scripts
	@Scripts/docs
	@Scripts/api .build/symbol-graphs --check

api: ## Write the public interface to Documentation/PublicAPI.txt
	@Scripts/prerequisites build scripts
	@Scripts/symbol-graphs .build/symbol-graphs $(API_MODULES)
	@Scripts/api .build/symbol-graphs

phone: ## Check the modules and examples for iOS apps with stand-ins for Apple's frameworks; on macOS, with its SDK
	@Scripts/prerequisites build scripts
	@Scripts/check phone --mistakes

release-notes: ## Write the notes of VERSION from CHANGELOG.md to .build/release-notes.md
	@Scripts/release-notes $(VERSION)

traits: ## Build with all package traits and test them; PACKAGES is a directory with the packages, when there is no network
	@Scripts/prerequisites build examples
	@Scripts/check traits $(PACKAGES)

clean: ## Remove all build products
	@rm -rf .build .build-*

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-20s%s\n", $$1, $$2 }' $(MAKEFILE_LIST)
