# `make` alone lists the targets. `make test` needs nothing but Go.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

GO ?= go
PKGS ?= ./...
BENCH ?= .
COUNT ?= 1
FUZZTIME ?= 10s
export GO FUZZTIME

.PHONY: help build demo test race lint check e2e bench golden fuzz cover

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9]+:.*## / { printf "%-8s %s\n", $$1, $$2 }' Makefile

build: ## build bin/gangplan
	$(GO) build -o bin/ ./cmd/...

demo: ## replay the embedded scenario under three policies
	$(GO) run ./cmd/gangplan demo

test: ## run all tests (PKGS=./sim/... for some)
	$(GO) test $(PKGS)

race: ## run all tests under the race detector (PKGS=./internal/study for some)
	$(GO) test -race $(PKGS)

lint: ## golangci-lint if installed, else go vet and staticcheck; then the rules of internal/archtest
	.ci/lint

check: gofmt build lint corpus verbose cross rerun ## what CI runs first: gofmt, build, lint, the corpus, test, vet for 386 and arm64, determinism on one processor

e2e: ## what takes long or needs more than Go: the same bytes on 386, arm64, amd64-v3, one processor, with -race; run directories read by DuckDB; a sweep on Slurm
	.ci/cross
	.ci/duckdb
	.ci/slurm
	@packages=$$($(GO) list ./internal/study/... 2> /dev/null); \
	if [ -n "$$packages" ]; then $(GO) test -race $$packages; else echo "e2e: no internal/study to race yet"; fi

bench: ## run the benchmarks (BENCH=Queue COUNT=10), kept in bench.txt for benchstat
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem -count $(COUNT) $(PKGS) | tee bench.txt

golden: ## write the expected outputs of the golden tests anew
	.ci/golden

fuzz: ## fuzz every target for FUZZTIME (10s)
	.ci/fuzz

cover: ## statement coverage of the whole module, by function in cover.out
	$(GO) test -coverpkg=./... -coverprofile=cover.out ./...
	$(GO) tool cover -func=cover.out | tail -n 1

# The steps of check that nobody needs to call by name.
.PHONY: gofmt corpus verbose cross rerun

gofmt:
	@files=$$(gofmt -l .); \
	if [ -n "$$files" ]; then echo "not gofmt-ed:"; echo "$$files"; exit 1; fi

corpus:
	$(GO) run ./cmd/gangplan check testdata/corpus

verbose:
	$(GO) test -v ./... | awk -f .ci/summary.awk

cross:
	GOARCH=386 $(GO) vet ./...
	GOARCH=arm64 $(GO) vet ./...

rerun:
	.ci/rerun
