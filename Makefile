# Two commands do everything on a machine that has Go:
#   make demo   runs the main job on real input and says where the results are
#   make test   runs all tests, and says what was skipped and why
# make test-all adds what takes too long for each commit.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.ONESHELL:
.DEFAULT_GOAL := help
.PHONY: help build release fleet fleet-check deps-fleet demo test test-all fault truth doctor-check engines-check advise-check check-hooks run-check race vet deps bench bench-compare bench-ui soak soak-tools mutants screenshots fuzz clean

# DEMO_FILES bounds the Go files that the demo works through.
DEMO_FILES ?= 5000
# FUZZTIME is how long each fuzz test runs.
FUZZTIME ?= 10m
# BENCHFLAGS go to the benchmark harness of bench, bench-compare or bench-ui; see go run . -h there.
BENCHFLAGS ?=
# SOAK is how long soak records.
SOAK ?= 10m
# N, SEED and MUTANTS are how many faults mutants plants, which ones, and where it keeps the
# results.
N ?= 200
SEED ?= 1
MUTANTS ?= mutants
# VERSION is what release makes.
VERSION ?=
# BASE is the git revision that bench-compare compares with.
BASE ?=

# Of darwin and windows the tests ask one processor each: the assembly is Linux's, and system
# calls have the same types on both. make vet asks all.
TESTED := linux/amd64 darwin/arm64 windows/amd64
PLATFORMS := $(TESTED) linux/arm64 darwin/amd64 windows/arm64

help: ## show this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 15

build: ## build the tool into bin/scopeview
	@go build -o bin/ ./cmd/scopeview

fleet: build ## build what export parquet and sql need into bin/: scopeview-fleet, and with a C++ compiler DuckDB
	@(cd fleet && go build -o ../bin/ ./cmd/scopeview-fleet)
	if [ "$$(go env CGO_ENABLED)" = 1 ] && command -v g++ >/dev/null; then
	  (cd fleet/duckdb && go build -o ../../bin/ ./cmd/scopeview-duckdb)
	else
	  echo "fleet: without a C++ compiler there is no bin/scopeview-duckdb; scopeview sql needs the command duckdb then"
	fi

release: ## make the go.mod files those of VERSION (v1.2.3), and say how to tag it
	@go run ./internal/release/prepare "$(VERSION)"

demo: build ## trace examples/gostats, look at it, kill a second copy and look at that
	@rm -rf demo && mkdir demo
	say() { printf '\n== %s\n' "$$*"; }
	go build -o demo/gostats ./examples/gostats
	say "gostats: parse and compress $(DEMO_FILES) Go files with 8 workers, recorded"
	demo/gostats -workers 8 -limit-files $(DEMO_FILES) -trace demo/gostats.scope
	say "scopeview info"
	bin/scopeview info demo/gostats.scope
	say "scopeview top"
	bin/scopeview top demo/gostats.scope
	bin/scopeview export csv demo/gostats.scope -o demo/gostats.csv
	bin/scopeview html demo/gostats.scope -o demo/gostats.html
	say "the same again, killed with -9 in mid-run"
	demo/gostats -workers 8 -limit-files $(DEMO_FILES) -repeat 1000 -trace demo/killed.scope >demo/killed.txt &
	victim=$$!
	sleep 3
	kill -9 $$victim
	wait $$victim 2>/dev/null || true
	bin/scopeview info demo/killed.scope
	bin/scopeview export csv demo/killed.scope -o demo/killed.csv
	bin/scopeview html demo/killed.scope -o demo/killed.html
	echo "ended rows and rows still open when it was killed:"
	awk -F, 'NR > 1 { open[$$11 == "1" || $$11 == "true"]++ } END { printf "  %d ended, %d open\n", open[0], open[1] }' demo/killed.csv
	say "the results"
	echo "trace     demo/gostats.scope"
	echo "as CSV    demo/gostats.csv ($$(wc -l <demo/gostats.csv) lines)"
	echo "killed    demo/killed.scope, demo/killed.csv and demo/killed.html"
	echo "live      bin/scopeview serve demo/ --open"
	echo "timeline  demo/gostats.html: open it in a browser"

# STAGES is which stages of test and test-all run: a regular expression.
STAGES ?= .

# stage NAME COMMAND runs a command and prints one line about it; the command's
# output follows if it failed, and what its tests skipped if it did not.
# gotest is go test, but what fails runs once more alone: FLAKY if that passes.
define STAGE
tmp=$$(mktemp -d) other=
trap '[ -z "$$other" ] || kill -- "-$$other" 2>/dev/null; rm -rf "$$tmp"' EXIT
go build -o "$$tmp/retest" ./internal/testing/retest
# A package may take ten minutes beside a full load. Stages vet what no other has vetted, but
# not constants for a tag: go test's own choice of checks would go through all that a package
# imports once more.
gotest() { "$$tmp/retest" go test -vet=off -timeout=30m "$$@"; }
named() { "$$tmp/retest" -naming '$(NAMES_WITNESS)' go test -vet=off -timeout=30m "$$@"; }
# What is guaranteed under faults, and where chunks are, has to do with the path and not
# with witnesses, the processor or the version of Go.
anywhere='^Test(G([12]|3[0-257]|38Fork|4[024])|IdleOwners|Ring|Segments|Snapshot|Burst|ManyNames)'
# arm64 QEMU FLAGS PACKAGE... runs tests under the emulator. Without -R, qemu keeps gigabytes
# of notes about the recorder's reserved addresses.
arm64() { local qemu=$$1; shift; GOARCH=arm64 CGO_ENABLED=0 gotest -short -v -skip "$$anywhere" -exec "$$qemu -R 64G" "$$@"; }
end() {
  if [ -s "$$tmp/slow" ]; then echo "the slowest tests:"; sort -k2,2rn "$$tmp/slow" | sed -n 1,10p; fi
  if [ -e "$$tmp/failed" ]; then echo "some tests failed"; exit 1
  elif [ -e "$$tmp/flaky" ]; then echo "all tests passed, those that are FLAKY only when they ran alone"
  else echo "all tests passed"; fi
}
# Of the output of tests, what belongs to those that failed.
failures='/^=== / { next }
  /^ *--- (PASS|SKIP)|^PASS|^ok |^\?/ { text = ""; next }
  /^ *--- FAIL|^FAIL|^panic|^#/ { printf "%s%s\n", text, $$0; text = ""; next }
  { text = text $$0 "\n" }
  END { printf "%s", text }'
stage() {
  local name=$$1 begin=$$SECONDS log; shift
  [[ $$name =~ $$stages ]] || return 0
  log=$$(mktemp "$$tmp/log.XXXXXX")
  if "$$@" >"$$log" 2>&1; then passed; else failed; fi >"$$log.said"
  cat "$$log.said" # at once: another lane may be running
  grep '^slow ' "$$log" >>"$$tmp/slow" || true
}
passed() {
  local verdict=ok
  if grep -q '^FLAKY ' "$$log"; then verdict=FLAKY; touch "$$tmp/flaky"; fi
  printf '%-5s %-42s %4d s\n' "$$verdict" "$$name" $$((SECONDS - begin))
  grep -E '^FLAKY |^    \| ' "$$log" || true
  awk '/^ +[a-zA-Z0-9_]+\.go:[0-9]+: / { why = $$0; sub(/^ +[^ ]+ /, "", why) }
       /^ *--- SKIP/ { print "      skipped " $$3 ": " why }' "$$log"
}
failed() {
  touch "$$tmp/failed"
  printf 'FAIL  %-42s %4d s\n' "$$name" $$((SECONDS - begin))
  awk "$$failures" "$$log" | tail -n 200
}
stages='$(STAGES)'
skip() { if [[ $$1 =~ $$stages ]]; then printf 'skip  %-42s %s\n' "$$1" "$$2"; fi; }
# beside LANE LANE runs two functions at once, each a lane of stages; what the first started
# ends with make.
beside() {
  set -m
  "$$1" &
  other=$$!
  set +m
  "$$2"
  wait "$$other"
  other=
}
endef

# matrix PLATFORM... runs vet and compiles for each, and links the tool and a program that
# records. Other systems run nothing here, so nothing is optimized for them: that takes
# a third less. The platform that this runs on is left as the tests have it, so that nothing
# is compiled twice.
define MATRIX
matrix() {
  local p
  for p in "$$@"; do
    echo "$$p"
    if [ "$$p" = "$$(go env GOHOSTOS)/$$(go env GOHOSTARCH)" ]; then all; else (
      export GOOS=$${p%/*} GOARCH=$${p#*/} CGO_ENABLED=0
      if [ $$GOOS != linux ]; then export GOFLAGS="$${GOFLAGS-} '-gcflags=all=-N -l'"; fi
      all
    ) fi || return
  done
}
all() {
  go vet ./... && go build $$(go list -f '{{if and .GoFiles (ne .Name "main")}}{{.ImportPath}}{{end}}' ./...) ./cmd/scopeview ./examples/hello
}
endef

# What the recorder is made of: tested in more ways than the rest.
RECORDER := $(patsubst %,./%/...,$(wildcard scope mmpool flusher sweeper internal/pool internal/record internal/sys internal/heartbeat internal/snapshot internal/hot))
# Where goroutines share memory, and tests have them do it: the recorder, what drains the
# kernel's rings, and the live server, whose requests share what is read of a trace. The
# tests of all else have one goroutine. TestRaced of conventions_test.go finds what lacks.
RACED := ./scope/... $(patsubst %,./%,mmpool flusher sweeper internal/advice/count internal/anonymize internal/goscopes internal/gotrace internal/inorder internal/pool internal/record internal/sys internal/perf internal/trace internal/trace/text internal/live internal/mcpserver internal/objects internal/outside internal/pack internal/pgo/source internal/pgo/explain internal/testing/bulk internal/timeline)
# What -tags scope_pure changes: packages with files of their own for it, and who calls what
# they don't have.
PURE := ./scope/... ./sweeper ./internal/record ./internal/sys
# What the recorder can verify about the Go runtime and kernel, its witnesses, decides which
# path records take and whether CPU times are known. WITNESSES are the tags that make one fail
# each, WITNESSED the packages of the witnesses themselves. Of internal/record, whose Go path
# the race detector has in full, make test runs under these tags the tests that name a witness, and
# the one with seccomp's filters, as the paths make different calls;
# TestWitnessesAreNamed of conventions_test.go holds the pattern against the files.
WITNESSES := scope_go scope_norseq scope_noyield scope_nogoid
WITNESSED := ./internal/sys ./internal/testing/cputest
NAMES_WITNESS := wantPath|fastNow|[wW]itness|path_reason|filterCases

test: ## run all tests; in CI and as root, install what they need first
	@$(STAGE)
	$(MATRIX)
	if [ "$${CI:-}" = true ] || [ "$$(id -u)" = 0 ]; then
	  make --no-print-directory deps || echo "      going on without what is missing"
	fi
	formatted() { local f; f=$$(find . -name '*.go' -not -path '*/testdata/*' -exec gofmt -l {} +) && echo "$$f" && [ -z "$$f" ]; }
	benches() (cd bench && go vet ./... && gotest -short -v ./...)
	real() (cd examples/doctor/real && go vet ./...)
	lint() (cd internal/testing/lint && go vet ./... && gotest -short -v ./...)
	integrations() { local m; for m in scope/scopegrpc scope/scopeotel scope/scopeprom; do (cd $$m && go vet ./... && gotest -v ./...) || return; done; }
	fleet() { make --no-print-directory fleet && (cd fleet/duckdb && go vet ./...) && (cd fleet && go vet ./... && gotest -v ./...); }
	schema() (cd internal/export/perfetto/schematest && go vet ./... && gotest -v ./...)
	browsers() (cd uitest && go vet ./... && gotest -v ./...)
	unrecorded() { go vet -tags scope_off ./scope/... ./examples/... && gotest -v -tags scope_off ./scope/... ./examples/...; }
	pure() { go vet -tags scope_pure $(PURE) && gotest -short -v -tags scope_pure $(PURE); }
	witnesses() {
	  for tag in $(WITNESSES); do
	    echo "# -tags $$tag"
	    gotest -short -tags $$tag $(WITNESSED) &&
	      named -short -tags $$tag $$([ $$tag = scope_go ] || echo -skip "$$anywhere|LateEnd") ./internal/record || return
	  done
	}
	stage "gofmt" formatted
	stage "vet and build on $(words $(TESTED)) platforms" matrix $(TESTED)
	stage "tests" gotest -v ./...
	stage "tests of the benchmarks" benches
	if [ "$$(go env GOOS)" = linux ]; then
	  stage "a ring under load, its writers killed" make --no-print-directory soak SOAK=15s
	else
	  skip "a ring under load, its writers killed" "soak looks at /proc"
	fi
	page() {
	  # Older ones take no file for a module that does not say so, and know no deflate-raw.
	  if node -e '[a, b] = process.versions.node.split("."); process.exit(+(a < 20 || a == 20 && b < 19))' 2>/dev/null; then
	    stage "page: unit tests" node --test --test-reporter=spec export/html/assets/test/*.test.js
	  else
	    skip "page: unit tests" "needs node 20.19 or newer"
	  fi
	  lacking=()
	  command -v chromium >/dev/null || lacking+=(chromium)
	  command -v firefox-esr >/dev/null || lacking+=(firefox-esr)
	  [ -e uitest/node_modules/axe-core/axe.min.js ] || lacking+=("axe-core from npm")
	  if [ $${#lacking[@]} = 0 ]; then
	    stage "page: in a browser" browsers
	  else
	    why=$$(printf ', %s' "$${lacking[@]}")
	    skip "page: in a browser" "lacks $${why:2}; make deps installs them"
	  fi
	}
	second() {
	  if (cd internal/testing/lint && GOPROXY=off go list -deps tool >/dev/null 2>&1); then
	    stage "staticcheck and unparam" lint
	  else
	    skip "staticcheck and unparam" "their modules are not here; make deps gets them"
	  fi
	  stage "Perfetto's schema" schema
	  stage "vet the doctor's real programs" real
	  stage "integrations with large libraries" integrations
	  skip "an OpenTelemetry collector and Jaeger" "make engines-check builds them, which takes minutes"
	  stage "tables of a fleet" fleet
	  stage "tests with -tags scope_off" unrecorded
	  if [ "$$(go env CGO_ENABLED)" = 1 ] && command -v "$$(go env CC)" >/dev/null; then
	    # Other users, descriptors, threads and forks are the process's, and take long: what is
	    # tried of them shares no memory between goroutines.
	    stage "tests with the race detector" gotest -short -v -skip '^TestG(29|33Descriptors|37Threads|38Fork)' -race $(RACED)
	  else
	    skip "tests with the race detector" "needs cgo and a C compiler; make deps installs gcc"
	  fi
	  if [ "$$(go env GOHOSTARCH)" = arm64 ]; then
	    skip "arm64 tests under qemu" "this machine is arm64"
	  elif qemu=$$(command -v qemu-aarch64 || command -v qemu-aarch64-static); then
	    stage "arm64 tests under qemu" arm64 "$$qemu" ./internal/record ./internal/sys ./internal/format ./internal/testing/cputest
	  else
	    skip "arm64 tests under qemu" "no qemu-aarch64; make deps installs it"
	  fi
	}
	first() {
	  page
	  stage "tests with -tags scope_pure" pure
	  stage "tests with each witness failing" witnesses
	}
	beside first second # most of either has one process at work, and both take as long
	end

# Tests that are too long for each commit run too; Firefox runs all tests of the page.
test-all: export SCOPEVIEW_TEST := all
test-all: test ## run what make test runs, the long tests among it, then what takes too long for each commit: vet on all platforms, deadcode, scopeview vet, all of the recorder's tests with each witness failing, the Go path on arm64, the newest Go
	@$(STAGE)
	$(MATRIX)
	newest() (
	  export GOTOOLCHAIN=go$$1
	  go version && go vet ./internal/record ./internal/sys ./internal/build/instrument &&
	    gotest -short -v -skip "$$anywhere" ./internal/record ./internal/sys ./internal/build/instrument &&
	    gotest -v -run '^TestHooks$$' ./internal/build
	)
	witnesses() {
	  for tag in $(WITNESSES); do
	    echo "# -tags $$tag"
	    gotest -short -tags $$tag $$([ $$tag = scope_go ] || echo -skip "$$anywhere|LateEnd") ./scope ./internal/record $(WITNESSED) || return
	  done
	}
	lint() (cd internal/testing/lint && gotest -v ./...)
	stage "vet and build on $(words $(PLATFORMS)) platforms" matrix $(PLATFORMS)
	stage "deadcode, and scopeview vet of this module" lint
	stage "all tests with each witness failing" witnesses
	if ! newest=$$(go list -m -f '{{.Version}}' go@latest 2>/dev/null); then
	  skip "tests on the newest Go" "the module proxy can't be reached"
	elif [ "go$$newest" = "$$(go env GOVERSION)" ]; then
	  skip "tests on the newest Go" "go$$newest is what runs here"
	elif ! GOTOOLCHAIN=go$$newest go version >/dev/null 2>&1; then
	  skip "tests on the newest Go" "go$$newest can't be had from the module proxy"
	else
	  stage "tests on the newest Go, $$newest" newest "$$newest"
	fi
	if [ "$$(go env GOHOSTARCH)" != arm64 ] && qemu=$$(command -v qemu-aarch64 || command -v qemu-aarch64-static); then
	  stage "arm64 tests under qemu, the Go path" arm64 "$$qemu" -tags scope_go ./internal/record ./internal/sys
	else
	  skip "arm64 tests under qemu, the Go path" "this machine is arm64, or has no qemu-aarch64"
	fi
	end

fault: ## do every fault of docs/guarantees.md, and say of each guarantee whether it held; as root, some twenty minutes
	@guarantees() { SCOPEVIEW_FAULT=full go test -json -count=1 -p 1 -timeout 2h -run '^TestG[0-9]' ./... || true; } # the report has the verdicts
	{ guarantees; cd uitest && guarantees; } | go run ./internal/testing/faultfs/report

doctor-check: ## run the examples with known problems, and say of each whether the doctor finds it, and what following it gains; compare samples of real modules with their own profiles; some fifteen minutes
	@SCOPEVIEW_DOCTOR=full go test -count=1 -timeout 1h -v -run '^TestDoctorCheck$$' ./examples/doctor
	cd examples/doctor/real && SCOPEVIEW_DOCTOR=full go test -count=1 -timeout 1h -v -run '^TestFromOutside$$' .

# What of the standard library is hooked, and which of its own tests are run with that.
HOOKED := sync internal/sync testing runtime/pprof runtime/trace slices maps container/list sort strings bytes io internal/poll internal/runtime/maps regexp
HOOKED_RUNTIME := ^Test(Chan|Select|Nonblock|SelfSelect|Pseudo|Shrink|Goroutine|Goexit|SimpleDeadlock|Timer|GoNil|MainGoroutine|Stop|Yield|NumGoroutine)

truth: fleet ## hold what is said of programs, traces and profiles of others against perf, gprofng, Go's own readers, go tool pprof and ptrace, and each view against the others; as root; some fifteen minutes
	@grep -rl SCOPEVIEW_TRUTH --include='*_test.go' . | xargs -n 1 dirname | sort -u | SCOPEVIEW_TRUTH=1 xargs go test -count=1 -p 1 -timeout 1h -v -run '^TestTruth'

engines-check: ## build an OpenTelemetry collector and Jaeger, export requests over several programs through one into the other, and compare calls, errors and the graph of services; four minutes, the second time one
	@cd fleet/engines && go vet ./... && SCOPEVIEW_ENGINES=full go test -count=1 -timeout 1h -v ./...

fleet-check: fleet deps-fleet ## run the commands of docs/fleet.md, Try it: fifty processes, snapshots, an object store, tables, five questions; two minutes
	@cd fleet && SCOPEVIEW_FLEET=full go test -count=1 -timeout 20m -v -run '^TestFleetCheck$$' ./cmd/scopeview-fleet

advise-check: ## build and run programs with a known problem for each diagnostic, and say whether it is advised, whether its twin is not, and what following the advice gains beside the estimate; some ten minutes
	@SCOPEVIEW_ADVICE=full go test -count=1 -timeout 2h -v -run '^Test(EachHasPrograms|AdviseCheck|Verified)$$' ./internal/advice/check

check-hooks: ## each hook delivers, and the standard library's own tests pass with them
	@go test -count=1 -run '^TestHooks$$' ./internal/build
	tmp=$$(mktemp -d); trap 'rm -rf "$$tmp"' EXIT
	go test -count=1 -run '^TestOverlay$$' ./internal/build/std -args -overlay "$$tmp"
	export GOFLAGS=-overlay=$$tmp/overlay.json
	go test -count=1 -short $(HOOKED)
	go test -count=1 -short os -run 'Exit|Process|File'
	go test -count=1 -short net/http -run '^Test(Server|Serve|Handler|Mux|Pattern|Timeout|HTTP2)'
	go test -count=1 -short runtime -run '$(HOOKED_RUNTIME)'

run-check: ## what is recorded of modules of others is held against what is known of them, and its cost against the budget; ten minutes and more
	@SCOPEVIEW_RUN=full go test -count=1 -timeout 2h -v ./internal/build/others

race: ## run the tests with the race detector
	@go test -race ./...

vet: ## vet and compile for linux, darwin and windows on amd64 and arm64
	@$(MATRIX)
	matrix $(PLATFORMS)

deps: ## install what the tests need: Debian packages and Go modules
	@need=()
	command -v gcc >/dev/null || need+=(gcc libc6-dev)
	command -v g++ >/dev/null || need+=(g++)
	if [ "$$(go env GOHOSTARCH)" != arm64 ]; then
	  command -v qemu-aarch64 >/dev/null || command -v qemu-aarch64-static >/dev/null || need+=(qemu-user)
	fi
	command -v chromium >/dev/null || need+=(chromium)
	command -v firefox-esr >/dev/null || need+=(firefox-esr)
	command -v node >/dev/null || need+=(nodejs)
	command -v npm >/dev/null || need+=(npm)
	command -v llvm-profdata >/dev/null || need+=(llvm)
	command -v clang >/dev/null || need+=(clang)
	command -v perf >/dev/null || need+=(linux-perf)
	go mod download
	for nested in bench uitest scope/scopegrpc scope/scopeotel scope/scopeprom internal/testing/lint internal/export/perfetto/schematest examples/doctor/real fleet; do (cd $$nested && go mod download); done
	(cd fleet/duckdb && go list -deps ./... >/dev/null) # and not the libraries of all systems
	if [ $${#need[@]} != 0 ]; then
	  if [ "$$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
	    echo "deps: missing: $${need[*]} (Debian's names); install them as root"
	    exit 1
	  fi
	  export DEBIAN_FRONTEND=noninteractive
	  apt-get -qq update && apt-get -qq install -y --no-install-recommends "$${need[@]}" >/dev/null || {
	    echo "deps: apt-get could not install: $${need[*]}"
	    exit 1
	  }
	fi
	# Not every Debian has the browser without windows, which makes tests of the page faster.
	if ! command -v chromium-headless-shell >/dev/null && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
	  DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends chromium-headless-shell >/dev/null 2>&1 || true
	fi
	if [ uitest/node_modules/.package-lock.json -ot uitest/package-lock.json ]; then
	  (cd uitest && npm ci --silent --no-audit --no-fund) || { echo "deps: npm could not install what uitest/package.json lists"; exit 1; }
	fi

# MINIO is the object store that fleet-check tries the tables with. Building it takes minutes.
MINIO := github.com/minio/minio@v0.0.0-20260212201848-7aac2a2c5b7c

deps-fleet: ## install MinIO, an object store, into the user's cache and bin/
	@cache="$${XDG_CACHE_HOME:-$$HOME/.cache}/scopeview/$(notdir $(MINIO))"
	[ -x "$$cache/minio" ] || GOBIN="$$cache" go install $(MINIO)
	mkdir -p bin && ln -sf "$$cache/minio" bin/minio

bench: ## measure against the floor and against peers; fails when a must is missed
	@cd bench && go run . $(BENCHFLAGS)

bench-compare: ## measure the hot path in turn with that of revision BASE; fails when a row is 3 % slower
	@[ -n "$(BASE)" ] || { echo "bench-compare: say with what: make bench-compare BASE=<git revision>"; exit 2; }
	cd bench && go run . -base "$(BASE)" $(BENCHFLAGS)

bench-ui: ## measure the timeline page in a browser; fails when a must is missed
	@cd uitest && go run ./benchui $(BENCHFLAGS)

soak: ## record 1 M scopes/s into a ring for SOAK, watch disk and memory, and kill other writers meanwhile
	@cd bench && go run ./soak -for $(SOAK)

soak-tools: ## record 50,000 scopes/s into a ring for SOAK while serve, ctl, snapshots and a trigger are at work; fails when one is lost
	@cd bench && go run ./soak -for $(SOAK) -rate 50000 -kills 0 -tools

mutants: ## plant N faults into the recorder and the reader, and say which lanes find each: none may be found by test-all alone; hours, and a second run goes on behind the first
	@mkdir -p "$(MUTANTS)"
	go build -o "$(MUTANTS)/retest" ./internal/testing/retest
	RETEST="$$(realpath "$(MUTANTS)")/retest" WITNESSES='$(WITNESSES)' NAMES_WITNESS='$(NAMES_WITNESS)' \
	  go run ./internal/testing/mutants -n "$(N)" -seed "$(SEED)" -dir "$(MUTANTS)"

screenshots: demo ## pictures of the demo's timeline into screenshots/
	@cd uitest && go run ./screenshots -o ../screenshots

# Memory is measured only where garbage is collected while all else stands still.
fuzz: ## run each fuzz test for FUZZTIME
	@grep -rlE --include='*_test.go' '^func Fuzz' . | xargs -r -n 1 dirname | sort -u | while read -r dir; do
	  for f in $$(go test -list '^Fuzz' "$$dir" | grep '^Fuzz'); do
	    echo "$$dir $$f"
	    GODEBUG=gcstoptheworld=1 go test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 100x "$$dir"
	  done
	done

clean: ## remove what these targets made
	@rm -rf bin demo traces mutants screenshots
