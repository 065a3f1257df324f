# Two commands are enough: `make run` opens the app, `make test` runs every test.
# Both install what they need (see build/setup.sh), and both are quick the second time.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

APP     := temporal-sandbox-agent
BIN     := build/bin/$(APP)
DEV_BIN := build/cache/$(APP)-dev
CACHE   := $(CURDIR)/build/cache
TOOLS   := $(CACHE)/bin
VERSION := $(or $(shell git describe --tags --always --dirty 2>/dev/null),unknown)

# Where the system's Node.js is too old, build/setup.sh has put a newer one here.
export PATH := $(CACHE)/node/bin:$(PATH)

# Build tags, as Wails v2.15.0 has them:
#   desktop,production  what `wails build` passes. Only `production` selects code: the window with
#                       the embedded page and no developer tools. Without it (or `dev`, or
#                       `bindings`) everything compiles, and wails.Run answers that tags are missing.
#   dev                 what `wails dev` passes: the same window, and an HTTP server that gives the
#                       page to browsers too and carries its calls to Go over a WebSocket
#                       (/wails/ipc). The environment sets it up: devserver=127.0.0.1:PORT (there is
#                       no way to learn the port of :0) and assetdir=FOLDER (else the folder of
#                       index.html is guessed from the working directory). It takes both as flags
#                       as well, which our own commands don't know. The window opens in any case,
#                       so it needs a display, and its page is one more client beside the browser's.
#   bindings            what build/bindings.sh passes: writes TypeScript and opens nothing.
#   webkit2_41          WebKitGTK 4.1 (libsoup 3); current distributions have no 4.0 any more.
#   lazywebkit          our own: WebKitGTK is loaded when the window opens, not when the program
#                       starts (see build/linux/webkit). Commands start in less than half the time.
# Without a display GTK cannot start and Wails panics; main.go looks for one first.
TAGS_APP := desktop,production,webkit2_41,lazywebkit
TAGS_DEV := dev,webkit2_41
# No -trimpath: with it the app would have a compiled Temporal server of its own (minutes of
# work) instead of the one of vet, linters and tests. For a release: make build GOFLAGS=-trimpath
LDFLAGS  := -s -w -X main.version=$(VERSION)

# go list finds no packages in the page's dependencies: go.mod ignores these folders.
# The test of the window has a target of its own, since it needs the built app.
PACKAGES = $$(go list ./... | grep -v '/build/windowtest')

GO_TEST_FLAGS ?=
# Two packages at a time: the race detector takes five times the memory, and the Temporal
# server alone compiles for minutes with it.
GO_TEST := go test -p 2 -timeout 40m $(GO_TEST_FLAGS)

# What the tests are told: where the built programs are, and whether a test that can't run
# (no display, no browser) may skip itself or must fail.
export TSA_BIN      := $(CURDIR)/$(BIN)
export TSA_DEV_BIN  := $(CURDIR)/$(DEV_BIN)
export TSA_TEMPORAL := $(TOOLS)/temporal
export TSA_CHROMIUM := $(CACHE)/browser
export TSA_REQUIRE_ALL ?=

.PHONY: help
help: ## Show this list
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  make %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# --- build and run ------------------------------------------------------------------------

.PHONY: setup
setup: ## Install all that building and testing need (Debian packages, Node.js for the page)
	@build/setup.sh test
	@build/setup.sh check

.PHONY: setup-build
setup-build:
	@build/setup.sh build

NPM_STAMP := frontend/node_modules/.installed
PAGE      := frontend/dist/index.html
PAGE_SRC  := $(shell find frontend/src frontend/public frontend/index.html frontend/vite.config.ts \
               frontend/svelte.config.js frontend/tsconfig.json -type f 2>/dev/null)

$(NPM_STAMP): frontend/package-lock.json | setup-build
	cd frontend && npm ci --no-audit --no-fund --loglevel=error
	@touch $@

$(PAGE): $(NPM_STAMP) $(PAGE_SRC)
	cd frontend && npm run --silent build -- --logLevel warn
	@touch $@ frontend/dist/.gitkeep

.PHONY: page
page: setup-build $(PAGE)

.PHONY: build
build: page ## Build the app: build/bin/temporal-sandbox-agent
	go build -tags $(TAGS_APP) -ldflags "$(LDFLAGS)" -o $(BIN) .

.PHONY: build-dev
build-dev: page ## Build the app with the server that lets a browser drive it, for tests
	go build -tags $(TAGS_DEV) -o $(DEV_BIN) .

.PHONY: run
run: ## Build and open the app; without a display, work one demo turn in the terminal
	@build/setup.sh run
	@$(MAKE) build
	@if [ -n "$${DISPLAY:-}$${WAYLAND_DISPLAY:-}" ] || [ "$$(uname)" = Darwin ]; then exec $(BIN); fi; \
	echo "No display here (neither DISPLAY nor WAYLAND_DISPLAY is set): working one demo turn without a window."; \
	exec $(BIN) run --new --provider demo --approve never tour

.PHONY: dev
dev: setup-build $(TOOLS)/wails ## Open the app with live reload of the page and of Go (wails dev)
	$(TOOLS)/wails dev -m

# --- test -----------------------------------------------------------------------------------

.PHONY: test
test: ## Run every test: page, Go with the race detector, browser, window
	@build/setup.sh test
	@$(MAKE) test-page
	@$(MAKE) test-go
	@$(MAKE) test-browser
	@$(MAKE) test-window

.PHONY: test-page
test-page: $(NPM_STAMP) ## Unit tests of the page (vitest)
	cd frontend && npm test

.PHONY: test-go
test-go: build $(TOOLS)/temporal ## Go tests with the race detector, crash tests among them
	$(GO_TEST) -race $(PACKAGES)

.PHONY: test-browser
test-browser: build-dev ## The page in a real browser, against the real app
	cd frontend && npm run test:browser

.PHONY: test-gallery
test-gallery: $(NPM_STAMP) ## Scenes of the page in a real browser: scrolling, focus, panes (4 minutes, not part of test)
	cd frontend && npm run gallery:check

.PHONY: test-window
test-window: build ## The built app's native window on a display in memory
	$(GO_TEST) -count=1 ./build/windowtest/...

.PHONY: bench
bench: build ## Measure speed and size; prints JSON
	@go run ./build/bench

# --- check ----------------------------------------------------------------------------------

.PHONY: check
check: ## Formatting, vet, linters, workflow determinism, types of the page, fresh bindings
	@build/setup.sh check
	@$(MAKE) check-format check-shell check-go check-workflows check-page check-bindings

.PHONY: check-format
check-format: $(TOOLS)/gofumpt
	@bad=$$(git ls-files -z --cached --others --exclude-standard '*.go' | xargs -0 $(TOOLS)/gofumpt -l); \
	if [ -n "$$bad" ]; then echo "not formatted (run make format):"; echo "$$bad"; exit 1; fi

.PHONY: check-shell
check-shell:
	shellcheck build/*.sh build/linux/*.sh build/linux/*/*.sh .ci/run

.PHONY: check-go
check-go: $(TOOLS)/golangci-lint
	go vet ./...
	go vet -tags $(TAGS_APP) .
	$(TOOLS)/golangci-lint run

.PHONY: check-workflows
check-workflows: $(TOOLS)/workflowcheck
	$(TOOLS)/workflowcheck ./backend/workflow/...

.PHONY: check-page
check-page: $(NPM_STAMP)
	cd frontend && npm run --silent check

.PHONY: check-bindings
check-bindings: ## Are the generated TypeScript bindings those of today's Go code?
	@build/bindings.sh check

.PHONY: bindings
bindings: ## Generate the TypeScript bindings of app.go into frontend/wailsjs
	@build/bindings.sh write

.PHONY: format
format: $(TOOLS)/gofumpt ## Format the Go code
	git ls-files -z --cached --others --exclude-standard '*.go' | xargs -0 $(TOOLS)/gofumpt -w

# --- developer tools, built from pinned modules into build/cache/bin ----------------------------

.PHONY: tools
tools: $(addprefix $(TOOLS)/,gofumpt golangci-lint workflowcheck temporal wails) ## Build all developer tools

tool = @echo "building $(notdir $@) (once, from $(1)/go.mod)"; mkdir -p $(TOOLS); \
       cd $(1) && go build -buildvcs=false -o $@ $(2)

$(TOOLS)/gofumpt: build/tools/go.mod
	$(call tool,build/tools,mvdan.cc/gofumpt)

$(TOOLS)/workflowcheck: build/tools/go.mod
	$(call tool,build/tools,go.temporal.io/sdk/contrib/tools/workflowcheck)

$(TOOLS)/wails: build/tools/go.mod
	$(call tool,build/tools,github.com/wailsapp/wails/v2/cmd/wails)

$(TOOLS)/temporal: build/tools/go.mod
	$(call tool,build/tools,github.com/temporalio/cli/cmd/temporal)

$(TOOLS)/golangci-lint: build/tools/lint/go.mod
	$(call tool,build/tools/lint,github.com/golangci/golangci-lint/v2/cmd/golangci-lint)

# --- desktop entry, clean up ----------------------------------------------------------------------

.PHONY: install-desktop
install-desktop: build ## Put the app into your menu, to start it by a double click
	@build/linux/desktop.sh install $(BIN)

.PHONY: uninstall-desktop
uninstall-desktop: ## Take the app out of your menu again
	@build/linux/desktop.sh uninstall

.PHONY: clean
clean: ## Remove what was built; keep downloaded parts and tools
	rm -rf build/bin
	find frontend/dist -mindepth 1 ! -name .gitkeep -delete 2>/dev/null || true

.PHONY: distclean
distclean: clean ## Remove downloaded parts and tools too
	rm -rf build/cache frontend/node_modules
