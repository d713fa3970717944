# Every target says what it does; `make` alone prints them.
SHELL      := /bin/bash
GO         ?= go
STATICCHECK = $(GO) tool -modfile=tools/go.mod staticcheck
FUZZTIME   ?= 60s

help: ## print the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /:/' | awk -F: '{ printf "%-6s %s\n", $$1, substr($$0, length($$1) + 2) }'

deps: ## install what the tests need and this machine lacks, from Debian's packages
	@.ci/packages gcc chromium redis-server

test: deps ## run all tests, with the race detector; nothing is skipped
	CI=true $(GO) test -race -shuffle=on -count=1 -timeout=9m ./...
	cd examples && CI=true $(GO) test -race -count=1 ./...
	cd benchmarks && CI=true $(GO) test -count=1 ./...

lint: ## check form, vet, staticcheck and shell scripts
	@.ci/packages shellcheck
	@unformatted=$$(gofmt -l .); if [ -n "$$unformatted" ]; then echo "gofmt would change:"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./... && $(STATICCHECK) ./...
	cd examples && $(GO) vet ./...
	cd benchmarks && $(GO) vet ./...
	shellcheck .ci/run .ci/packages

prove: deps ## a million random steps per algorithm against the exact model, and of Redis against memory (an hour)
	$(GO) test -count=1 -timeout=60m ./internal/algo -args -steps=1000000
	STORETEST_STEPS=1000000 $(GO) test -count=1 -timeout=90m -run='^TestStore$$/^random$$' ./memstore
	$(GO) test -count=1 -timeout=90m -run='^TestProof$$' ./redisstore/internal/script -args -steps=1000000
	$(GO) test -count=1 -timeout=90m -run='^TestAgainstAlgo$$' ./redisstore/internal/script -args -steps=100000
	STORETEST_STEPS=50000 $(GO) test -count=1 -timeout=90m -run='^TestStore$$/^random$$' ./redisstore

large: ## tens of millions of keys in the memory store (minutes)
	$(GO) test -count=1 -timeout=30m -v -run='TestTenMillionKeys|TestFloodOfDistinctKeys' ./memstore -args -large

fuzz: ## run every fuzz target for FUZZTIME each
	@set -e; for package in $$($(GO) list ./...); do \
	  for target in $$($(GO) test -list '^Fuzz' $$package | grep '^Fuzz' || true); do \
	    echo "$$package $$target"; $(GO) test -run='^$$' -fuzz="^$$target$$" -fuzztime=$(FUZZTIME) -fuzzminimizetime=10x $$package; \
	  done; \
	done

bench: deps ## compare with other limiters, in memory and on Redis, and measure an outage (half an hour)
	cd benchmarks && $(GO) run ./compare && $(GO) run ./memory
	cd benchmarks && $(GO) run ./redis && $(GO) run ./outage
