# `make demo` and `make test` install what they need. The other targets are for developers of Agon.

CARGO ?= cargo
# Development tools are installed here, never into the user's home.
TOOLS := $(CURDIR)/.tools

.DEFAULT_GOAL := help
.PHONY: help setup web build demo test soak lint audit bench ladder golden words game clean

help: ## Show this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

setup: ## Check the requirements of the build (as root on Debian: install them)
	@scripts/setup.sh

web: web/dist/viewer.js web/dist/app/index.html ## Build the replay viewer and the web app (web/dist) with npm, if their sources changed

build: setup web ## Build the program: target/release/agon
	$(CARGO) build --release --locked -p agon

demo: build ## Run five small competitions and show them in the browser
	@scripts/setup.sh demo
	AGON_PYTHON=$(CURDIR)/.venv/bin/python ./target/release/agon demo

test: web ## Run all tests
	@scripts/setup.sh tests
	@mkdir -p target && scripts/leftovers.sh list > target/before-test.txt
	CARGO="$(CARGO)" python3 scripts/run_tests.py
	@scripts/leftovers.sh since target/before-test.txt

soak: web ## Run the long tests: clocks on a loaded machine, 12,000 games, two hours of hostile bots, a server under fuzzing (about four hours)
	@scripts/setup.sh tests
	CARGO="$(CARGO)" scripts/soak.sh

lint: setup web $(TOOLS)/bin/cargo-deny ## Check formatting, lints, names, and licences and sources of dependencies
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	$(TOOLS)/bin/cargo-deny check bans licenses sources
	python3 scripts/check_glossary.py
	python3 scripts/list_shared_type_names.py
	cd web && npm run check
	python3 scripts/lint_game_ids.py

audit: $(TOOLS)/bin/cargo-deny ## Check dependencies for known vulnerabilities (downloads the advisory database)
	$(TOOLS)/bin/cargo-deny check advisories

bench: setup web ## Run the benchmarks: minimum speeds (rules and engine, then bots in processes), the ledger, then each game in detail
	@scripts/setup.sh tests
	$(CARGO) bench --locked -p agon-engine --bench floors
	python=$$PWD/.venv/bin/python; [ -x $$python ] || python=python3; AGON_PYTHON=$$python $(CARGO) bench --locked -p agon-engine --bench bots
	$(CARGO) bench --locked -p agon-store --bench ledger
	$(CARGO) bench --locked -p agon --bench competitions
	$(CARGO) bench --locked -p agon --bench scaling
	$(CARGO) bench --locked -p agon-runner --bench live
	$(CARGO) bench --locked -p agon-server --bench load
	$(CARGO) bench --locked -p agon-games
	$(CARGO) bench --locked -p agon-league
	$(CARGO) run --release --locked -q -p agon-grid --example simulate -- --quick
	$(CARGO) build --release --locked -p agon && cd web && npm run measure
	python=$$PWD/.venv/bin/python; [ -x $$python ] || python=python3; AGON_PYTHON=$$python crates/agon/benches/own_times.py

ladder: setup ## Check that each house bot is better than the one below it
	$(CARGO) run --release --locked -q -p agon-games --example ladder

golden: setup web ## Regenerate the golden games and screens; review the diff
	AGON_BLESS=1 INSTA_UPDATE=always $(CARGO) test --workspace --locked

game: ## Write the files of a new game with the places to fill in: make game NAME=tic-tac-toe
	@python3 scripts/new_game.py "$(NAME)"

words: ## Regenerate the word list words.dat
	scripts/make-words.sh

clean: ## Remove all build results
	$(CARGO) clean
	rm -rf $(TOOLS) web/dist web/node_modules

# npm writes this file when it has installed everything. Not `npm ci`: it rejects a lock file in which optional packages for other platforms
# are missing, and some registries do not have them all. `npm install` uses the versions and hashes of the lock file too.
web/node_modules/.package-lock.json: web/package.json web/package-lock.json
	@scripts/setup.sh
	cd web && npm install --no-save
	@touch $@

web/dist/viewer.js: web/node_modules/.package-lock.json web/vite.config.ts web/vite.app.config.ts web/svelte.config.js $(shell find web/src -type f)
	cd web && npm run build
	@touch $@

# Made by the same build. An older build may have made the viewer only.
web/dist/app/index.html: web/dist/viewer.js
	@[ -s $@ ] || (cd web && npm run build)
	@touch $@

$(TOOLS)/bin/cargo-deny:
	$(CARGO) install cargo-deny --locked --root $(TOOLS)
