package main

import (
	"encoding/binary"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/filetest"
)

// damagedCalls are calls of the commands that read files, without their last argument, which is the file.
// An entry that begins with "-" is a reason not to call the command. A command whose only argument is a
// TRACE needs no entry: callsOf makes its calls from its row.
var damagedCalls = map[string][]string{
	"tail": {"", "--from 0"}, "stacks": {"", "--json", "--format folded", "--format pprof -o x.out"}, "export gotrace": {"-o x.out"}, "html": {"-o x.out"},
	"export chrome": {"-o x.out"}, "export perfetto": {"-o x.out"}, "export otlp": {"--name * -o x.out"}, "compare": {"store.scope", "--view functions good.trace"},
	"profile": {"", "--json", "--format csv", "--by line", "--by object", "--by goroutine", "--by thread", "--by metric", "--by tree", "--by sample"}, "export pprof": {"-o x.out"},
	"pgo show": {""}, "pgo collect": {"-o x.out"}, "pgo merge": {"-o x.out"}, "pgo overlap": {"good.pprof"}, "autofdo write": {"-o x.out"},

	"callers": {"- it takes its function behind the file: see the test"}, "source": {"- as callers"}, "disasm": {"- as callers"},
	"serve": {"- it shows the page of html"}, "mcp": {"- it reads no Go execution traces, and says what top and doctor say"}, "advise": {"- it reads advice"},
	"export parquet": {"- a program of its own"}, "sql": {"- as callers"},
	"pgo ab": {"- it runs programs"}, "scale": {"- as pgo ab"}, "pgo check": {"- it reads profiles as pgo show does"}, "pgo explain": {"- as pgo show"}, "pgo rename": {"- as pgo show"},
	"pgo salvage": {"- as pgo show"}, "pgo shrink": {"- as pgo show"}, "autofdo read": {"- it reads text"}, "autofdo show": {"- it reads text"},
	"autofdo merge": {"- it reads text"}, "autofdo overlap": {"- it reads text"},
}

// callsOf returns the calls of a command, as in damagedCalls; nil: it is not known how to call it.
func callsOf(name string) []string {
	row := rowOf(name)
	calls := damagedCalls[name]
	if calls != nil || row.args != "TRACE" || row.takes == takesNothing {
		return calls
	}
	calls = []string{""}
	if row.flags&flagJSON != 0 {
		calls = append(calls, "--json")
	}
	if row.flags&flagBrief != 0 {
		calls = append(calls, "--brief")
	}
	return calls
}

// madePerfData returns a perf.data as perf record writes it to a pipe, with three samples of a
// function of this program.
func madePerfData(t *testing.T) []byte {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	le := binary.LittleEndian
	u64 := func(b []byte, list ...uint64) []byte {
		for _, v := range list {
			b = le.AppendUint64(b, v)
		}
		return b
	}
	out := u64([]byte("PERFILE2"), 16)
	record := func(kind uint32, misc uint16, body []byte) {
		out = append(le.AppendUint16(le.AppendUint16(le.AppendUint32(out, kind), misc), uint16(len(body)+8)), body...)
	}
	attr := le.AppendUint32(le.AppendUint32(nil, 1), 112) // of the system's own events the task clock, each 1,000 ns
	attr = append(u64(attr, 1, 1000, 1|2|4, 0, 1<<18), make([]byte, 24+8+32)...)
	record(64, 0, attr)
	ids := le.AppendUint32(le.AppendUint32(nil, 7), 7)
	mapped := append(u64(slices.Clone(ids), 0x400000, 1<<30, 0), make([]byte, 24)...)
	mapped = append(le.AppendUint32(le.AppendUint32(mapped, 5), 2), self...)
	mapped = append(mapped, make([]byte, 8-len(self)%8)...)
	record(10, 2, u64(append(mapped, ids...), 1))
	for at := range uint64(3) {
		record(9, 2, u64(append(u64(nil, uint64(reflect.ValueOf(madePerfData).Pointer())+4), ids...), 2+at))
	}
	return out
}

// saysMissing matches the messages about a file that can't be read completely, or that the command
// does not read.
var saysMissing = regexp.MustCompile(`could not be read|ends in the middle|the file ends in it|the file ends within it|is truncated|its end is missing|cut off|bytes into a chunk|is damaged|found invalid event|unexpected EOF|unknown_after_ns|not a scopeview trace|is a profile or a plain Go execution trace`)

// damagedFiles writes files that are cut off or damaged, and the originals.
func damagedFiles(t *testing.T) {
	t.Helper()
	goTrace := filetest.Read(t, goTraces+"go1.26.trace")
	scriptTrace(t, "store")
	write := func(name string, b []byte) {
		t.Helper()
		filetest.Write(t, name, b)
	}
	read := func(name string) []byte {
		t.Helper()
		b := filetest.Read(t, name)
		return b
	}
	write("good.trace", goTrace)
	write("cut.trace", goTrace[:len(goTrace)-400])
	bad := slices.Clone(goTrace)
	copy(bad[900:], "\xff\xfe")
	write("bad.trace", bad)
	own := read("store.scope")
	write("cut.scope", own[:len(own)-8000])
	if r := scopeview("export", "pprof", "good.trace", "-o", "good.pprof"); r.code != exitOK {
		t.Fatal(r)
	}
	pprof := read("good.pprof")
	write("cut.pprof", pprof[:len(pprof)-9])
	perf := madePerfData(t)
	write("cut.data", perf[:len(perf)-10])
}

// TestEveryCommandReportsDamagedInput: each command that reads a cut or damaged file reports it,
// and exits with 1 if the file is damaged or unusable, and with --strict with 3 if a part is
// missing.
func TestEveryCommandReportsDamagedInput(t *testing.T) {
	damagedFiles(t)
	for name, c := range leafCommands(newRoot(&streams{})) {
		group := c
		for group.Parent().HasParent() {
			group = group.Parent()
		}
		if !slices.Contains([]string{"look", "why", "where", "compiler", "export"}, group.GroupID) && name != "verify" {
			continue // commands that convert files have their own tests
		}
		calls := callsOf(name)
		if calls == nil {
			t.Errorf("%s: it is not known how to call it: add it to damagedCalls", name)
		}
		for _, args := range calls {
			if strings.HasPrefix(args, "- ") {
				continue
			}
			if group.GroupID != "compiler" { // for the undamaged file, nothing is printed
				words := append(append(strings.Fields(name), strings.Fields(args)...), "good.trace")
				if name != "verify" {
					words = append(words, "--strict")
				}
				if r := scopeview(words...); r.code != exitOK || saysMissing.MatchString(r.err) {
					t.Errorf("%v: %d %s", words, r.code, r.err)
				}
			}
			for _, file := range []string{"cut.trace", "bad.trace", "cut.scope", "cut.pprof", "cut.data"} {
				words := append(append(strings.Fields(name), strings.Fields(args)...), file)
				r, strict := scopeview(words...), result{code: -1}
				if c.Flags().Lookup("strict") != nil {
					strict = scopeview(append(words[:len(words):len(words)], "--strict")...)
				}
				said := saysMissing.MatchString(r.out + r.err)
				ok := r.code == exitFailed && (strict.code == exitFailed || strict.code < 0) || r.code == exitOK && strict.code == exitLosses || r.code == exitUsage && strict.code == exitUsage
				if !said || !ok {
					t.Errorf("%v: exit %d, with --strict %d: %s", words, r.code, strict.code, r.err)
				}
				if file == "bad.trace" && group.GroupID != "compiler" && r.code != exitFailed {
					t.Errorf("%v is damaged: exit %d", words, r.code)
				}
			}
		}
	}
	if r := scopeview("sql", "good.trace", "SELECT count(*) FROM records", "--strict"); r.code != exitOK || saysMissing.MatchString(r.err) {
		t.Errorf("%v", r)
	}
	for _, file := range []string{"cut.trace", "bad.trace", "cut.scope"} {
		for _, form := range []string{"--json", "--csv", "-n0"} {
			r, strict := scopeview("sql", form, file, "SELECT * FROM records, states LIMIT 10"), scopeview("sql", form, file, "SELECT * FROM records, states LIMIT 10", "--strict")
			if !saysMissing.MatchString(r.out+r.err) || !(r.code == exitFailed && strict.code == exitFailed || r.code == exitOK && strict.code == exitLosses) {
				t.Errorf("sql %s %s: %v", form, file, r)
			}
		}
	}
	for _, command := range []string{"callers", "source", "disasm"} {
		for _, file := range []string{"cut.trace", "bad.trace", "cut.scope", "cut.pprof"} {
			if r := scopeview(command, file, "main.worker"); r.code != exitFailed || !saysMissing.MatchString(r.err) {
				t.Errorf("%s %s: %v", command, file, r)
			}
		}
	}
}
