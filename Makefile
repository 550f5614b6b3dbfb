# make run   installs what is missing, builds, measures, ends with the path of the report;
#            ARGS='-p native,docker -- ./program' measures something else than the default study
# make test  installs what tests need, builds, checks format and lints, runs the tests, prints what took how long
# make test-all  runs what is too slow for 'make test': slow tests, every workload once on every platform that can
#            run here (a table of how each ended, an hour), test-dist, fuzz
# make test-guest  checks tare in Debian 12 and 13 under QEMU as root and as an ordinary user, and renews the table of
#            docs/platforms.md. On KVM it takes minutes, emulated hours: ARGS='-s trixie -u user -p podman' renews a part,
#            ARGS='-s here' what this machine says
# make dist  builds, packs dist/: a release archive, a Debian package, an image, their checksums
# make test-dist  the same, then installs and runs each of them
# make fuzz  feeds what reads files, frames and messages with broken ones, SECONDS=60 for each target
# make bench installs what benches need, builds, holds tare against its targets

TARGET := $(shell uname -m)-unknown-linux-musl
export CARGO_TARGET_DIR ?= target
TARE   := $(CARGO_TARGET_DIR)/$(TARGET)/release/tare
DIST_TARE := $(CARGO_TARGET_DIR)/$(TARGET)/dist/tare
SECONDS ?= 60
STAMP  := $(shell date -u +%Y%m%d-%H%M%S)
# '--resume FILE' names the results file by itself.
RESUMED := $(filter --resume,$(ARGS))

.PHONY: run test test-all test-guest dist test-dist fuzz bench build clean help

help:
	@sed -n 's/^# //p' Makefile

build:
	@scripts/setup build
	cargo build --release --locked --target $(TARGET) -p tare

run:
	@echo "installing what is missing and building (some 5 min the first time), then measuring (some 5 min)"
	@scripts/setup run
	@scripts/build-progress cargo build --release --locked --target $(TARGET) -p tare
	@mkdir -p results
	@TARE_RESUME="make run ARGS='{}'" $(if $(filter-out --resume %.jsonl --budget %m,$(ARGS)),,TARE_AGAIN="make run ARGS='{}'") scripts/with-engines --only docker $(TARE) run $(if $(RESUMED),,-o results/$(STAMP).jsonl) --html results/$(STAMP).html $(ARGS)

test:
	@scripts/test

dist: export TARE_AGENTS ?= aarch64
dist:
	@scripts/setup build
	cargo build --profile dist --locked --target $(TARGET) -p tare
	@scripts/dist $(DIST_TARE) dist

test-all:
	@scripts/test-all $(SECONDS)

test-guest:
	@scripts/setup test
	@$(MAKE) --no-print-directory build
	TARE_BIN="$(abspath $(TARE))" scripts/with-engines cargo run --release --locked -p xtask -- test-guest --into docs/platforms.md $(ARGS)

test-dist:
	@scripts/setup dist
	@$(MAKE) --no-print-directory dist
	@scripts/with-engines --only docker scripts/test-dist $(DIST_TARE) dist

fuzz:
	@scripts/setup build
	@scripts/fuzz $(SECONDS)

bench:
	@scripts/setup bench
	@$(MAKE) --no-print-directory build
	cargo run --release --locked -p xtask -- bench-kernels
	cargo run --release --locked -p xtask -- bench-disk
	cargo run --release --locked -p xtask -- bench-network
	TARE_BIN="$(abspath $(TARE))" cargo run --release --locked -p xtask -- bench-load
	TARE_BIN="$(abspath $(TARE))" cargo run --release --locked -p xtask -- bench-tools
	TARE_BIN="$(abspath $(TARE))" cargo run --release --locked -p xtask -- bench-harness
	TARE_BIN="$(abspath $(TARE))" cargo run --release --locked -p xtask -- bench-boot
	TARE_BIN="$(abspath $(TARE))" scripts/with-engines --only docker cargo run --release --locked -p xtask -- bench-startup; \
		status=$$?; $(TARE) clean; exit $$status
	TARE_BIN="$(abspath $(TARE))" scripts/with-engines --only docker cargo run --release --locked -p xtask -- bench-precision; \
		status=$$?; $(TARE) clean; exit $$status

clean:
	cargo clean
