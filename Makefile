# Everything a person does with this project. `make help` lists it.

SWIFT ?= swift
# Warnings stop the build here; for those who depend on the package they stay warnings.
export MARTLET_STRICT = 1
# All tests at once starve one another, and peers take each other for dead.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH = 6
# These keep both hands full for a minute or two, and go after the others.
BUSY_TESTS = PeerTests\.(CrashTests|PageTests|FleetTests|RelayMemoryTests)|MartletRelayTests\.LoadTests
# The build that is tested: debug, or release as users have it.
CONFIGURATION ?= debug
# Optimised tests look behind public interfaces, which the program that is shipped does not allow: they have a build of
# their own, and run the shipped program.
TEST_FLAGS = $(if $(filter release,$(CONFIGURATION)),--configuration release --scratch-path .build-release-tests -Xswiftc -enable-testing)
BUILD_TESTS = $(SWIFT) build --build-tests $(TEST_FLAGS)
RUN_TESTS = env MARTLET_PROGRAM=$(PROGRAM) $(SWIFT) test $(TEST_FLAGS) --skip-build --disable-xctest
PROGRAM = $(CURDIR)/.build/$(CONFIGURATION)/martlet
# Python programs of the tests and benchmarks come from here, made by Scripts/prerequisites.
export MARTLET_PYTHON = $(CURDIR)/.build/python/bin/python3

.DEFAULT_GOAL := help
.PHONY: demo fleet-demo test simulate sanitize fuzz lint format bench bench-compare screenshots unit docs clean help

demo: ## Build, start the local APNs, send it real pushes and show every answer
	@Scripts/prerequisites build
	@$(SWIFT) build --product martlet
	@.build/debug/martlet demo

fleet-demo: ## Run three relays on one PostgreSQL, kill one, and account for every push
	@Scripts/prerequisites build fleet
	@$(SWIFT) build --product martlet
	@Scripts/fleet-demo .build/debug/martlet

test: ## Run every test, against real peers too; CONFIGURATION=release for the optimised build
	@Scripts/prerequisites build test
	@$(BUILD_TESTS)
	@$(SWIFT) build --configuration $(CONFIGURATION) --product martlet
	@Scripts/run-tests .build/tests-$(CONFIGURATION).log $(RUN_TESTS) --parallel --skip "$(BUSY_TESTS)"
	@Scripts/run-tests .build/busy-tests-$(CONFIGURATION).log $(RUN_TESTS) --parallel --filter "$(BUSY_TESTS)"
	@Scripts/check-examples $(PROGRAM)
	@Scripts/check-documentation $(PROGRAM)
	@Scripts/check-phone

simulate: CONFIGURATION = release
simulate: ## Run SEEDS simulated worlds of failing servers, or replay the one of SEED
	@Scripts/prerequisites build
	@$(BUILD_TESTS)
	@MARTLET_SEED=$(SEED) MARTLET_SEEDS=$(SEEDS) $(RUN_TESTS) --filter SimulationTests

sanitize: ## Run the tests under the thread sanitizer, then under the address sanitizer
	@Scripts/prerequisites build test
	@Scripts/sanitize thread
	@Scripts/sanitize address

fuzz: ## Fuzz the readers of snapshots, queries and JSON for FOR seconds, two minutes by default, then the relay's input
	@Scripts/prerequisites build
	@Scripts/fuzz $(FOR)

lint: ## Check formatting and the rules of Scripts/tidy
	@Scripts/prerequisites lint
	@$(SWIFT) format lint --strict --recursive --parallel Package.swift Sources Tests Examples
	@Scripts/tidy
	@Scripts/check-targets

format: ## Format every Swift file in place
	@Scripts/prerequisites
	@$(SWIFT) format format --in-place --recursive --parallel Package.swift Sources Tests Examples

bench: ## Compare what a push costs with h2load, nginx and aioapns, in one run; ONLY="bulk" for one figure
	@Scripts/prerequisites build bench fleet
	@$(SWIFT) build --configuration release --static-swift-stdlib --product MartletBench
	@$(SWIFT) build --configuration release --static-swift-stdlib --product martlet
	@$(MARTLET_PYTHON) Benchmarks/bench.py $(ONLY:%=--only %)

bench-compare: bench ## Measure, and say of each figure whether it is better or worse than Benchmarks/baseline.json
	@$(MARTLET_PYTHON) Benchmarks/compare.py

screenshots: ## Take the pictures of the inbox that the README shows
	@Scripts/prerequisites build test
	@$(SWIFT) build --product martlet
	@$(MARTLET_PYTHON) Scripts/screenshots .build/debug/martlet Documentation

unit: CONFIGURATION = release
unit: ## Boot Debian in a container as root, and check the relay's systemd unit there
	@Scripts/prerequisites build unit
	@$(SWIFT) build --configuration $(CONFIGURATION) --product martlet
	@Scripts/check-unit $(PROGRAM)

docs: ## Build the documentation as a website in .build/docs
	@Scripts/prerequisites build
	@Scripts/docs

clean: ## Remove everything that was built
	@rm -rf .build .build-*

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s%s\n", $$1, $$2 }' $(MAKEFILE_LIST)
