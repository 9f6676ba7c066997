package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/testing/recordtest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/scope"
	"github.com/scopeview/scopeview/scope/gotrace"
)

// service records workers that wait for locks and for each other, in scopes of every kind: long ones,
// ones that others end, and ones that never end.
func service(t *testing.T, path string, length, pause time.Duration, options ...scope.Option) {
	t.Helper()
	end := recordtest.Begin(t, path, append([]scope.Option{scope.WithHeartbeat(100 * time.Millisecond)}, options...)...)
	until := time.Now().Add(length)
	more := func() bool {
		now := time.Now()
		return now.Before(until) || pause == 0 && scope.Stats().Overwritten == 0 && now.Before(until.Add(time.Minute)) // the ring is to be full
	}
	var mu scope.Mutex
	mu.Name = "mu"
	var wg sync.WaitGroup
	feed := make(chan int)
	wg.Go(func() {
		scope.Track("feeder")
		for i := 0; more(); i++ {
			select {
			case feed <- i:
			case <-time.After(time.Millisecond):
			}
		}
		close(feed)
	})
	left := make(chan scope.Span, 1)
	scope.Go("leaver", func() {
		left <- scope.Begin("left open", 7)
		time.Sleep(length * 6 / 10)
	})
	kept := make([][]byte, 100)
	for w := range 4 {
		wg.Add(1)
		scope.Go(fmt.Sprint("worker ", w), func() {
			defer wg.Done()
			rnd := rand.New(rand.NewPCG(uint64(w), 1))
			long, since := scope.Begin("long", w), time.Now()
			for more() {
				if time.Since(since) > time.Duration(100+w*70)*time.Millisecond {
					long.End("result", w)
					long, since = scope.Begin("long", w), time.Now()
					scope.Process("proc")()
				}
				step(rnd, &mu, kept, w)
				if rnd.IntN(4) == 0 {
					s := scope.Begin("wait for feeder")
					<-feed
					s.End()
				}
				if rnd.IntN(40) == 0 {
					p, s := scope.Pending("later"), scope.Begin("other end")
					wg.Add(1)
					scope.Go("short", func() { defer wg.Done(); time.Sleep(time.Millisecond); s.End("by another"); p() })
				}
				if pause > 0 {
					time.Sleep(time.Duration(rnd.Int64N(int64(pause))))
				}
			}
			long.End()
		})
	}
	wg.Wait()
	end()
	(<-left).End() // too late: the trace has it open
}

func step(rnd *rand.Rand, mu *scope.Mutex, kept [][]byte, w int) {
	defer scope.Task("step", rnd.IntN(100), "text")()
	for range 1 + rnd.IntN(4) {
		scope.Taskf("inner %d", rnd.IntN(3))()
	}
	mu.Lock()
	for began := time.Now(); time.Since(began) < time.Duration(rnd.IntN(60))*time.Microsecond; {
	}
	kept[rnd.IntN(len(kept))] = make([]byte, 32<<10)
	mu.Unlock()
	scope.Counter("queue", rnd.IntN(40))
	scope.Event("tick", w)
	scope.Stack("stacked", 1)
}

// reports are those that take a range.
var reports = []string{
	"top", "top --json", "top --by track", "waits", "waits --json", "states", "states --json", "states --by track", "states --by goroutine", "states --by site",
	"doctor", "doctor --json", "profile", "profile --json", "export csv", "export csv --states", "export chrome",
}

// recordingOnly matches the lines of reports that are of the whole recording, whatever the range. An
// excerpt has its range only, and says so:
//
//   - its first line;
//   - the head of states: how much of Go's execution trace and of switches there is, how it was
//     checked, and its end;
//   - how the program ended, and what was not counted, if it did not stop: an excerpt is closed, and
//     says the latter in its first line if it is of the range;
//   - lost samples, which are those of the range.
var recordingOnly = regexp.MustCompile(`(?m)^(an excerpt: from .*|Go execution trace .*|\d+ threads?, which came onto CPUs.*|(ok|NOT ok|not checked): .*|(note: )?a check of the states failed.*|` +
	`ended: The program ended without Stop.*|(note: )?what was lost after .* is not known.*|counts are written once per heartbeat; .*|\d+ samples of the counter .* were lost: .*|(no problem found|no other finding) in this trace)$`)

// wakers matches the last column of the places where goroutines waited: where they were woken. What
// wakes a goroutine that still waits at the end of an excerpt is not in it.
var wakers = regexp.MustCompile(`(?m)^((?:join|cond|channel|select|network|sleep|other) .*?\d\S*s +\S+s +\S+s)  .*$`)

// comparable returns a report without what is not of the range.
func comparable(t *testing.T, command, file, out string, from, to int64) string {
	t.Helper()
	out = strings.ReplaceAll(out, file, "FILE")
	switch {
	case strings.HasSuffix(command, "--json"):
		return comparableJSON(t, out)
	case command == "waits":
		out = wakers.ReplaceAllString(out, "$1")
	case command == "export csv --states":
		out = clippedStates(out, from, to)
	case command == "export chrome":
		ids := map[string]string{} // arrows are numbered by the places of records
		out = regexp.MustCompile(`"id":\d+`).ReplaceAllStringFunc(out, func(id string) string {
			if ids[id] == "" {
				ids[id] = strconv.Itoa(len(ids))
			}
			return ids[id]
		})
		out = regexp.MustCompile(`"state":"\w+"|"losses":"[^"]*",?|,?\n?\{"ph":"M","pid":\d+,"tid":\d+,"name":"process_labels".*`).ReplaceAllString(out, "")
		out = strings.ReplaceAll(out, "}},\n", "}}\n")
	}
	out = recordingOnly.ReplaceAllString(out, "")
	return strings.TrimSpace(regexp.MustCompile(`\n\n+`).ReplaceAllString(out, "\n"))
}

func comparableJSON(t *testing.T, out string) string {
	t.Helper()
	if out == "" {
		return ""
	}
	var doc map[string]any
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatal(err)
	}
	delete(doc, "excerpt")
	if lost, ok := doc["lost"].(map[string]any); ok {
		delete(lost, "unknown_after_ns")
	}
	if end, ok := doc["end"].(map[string]any); ok && end["how"] == "unclosed" {
		doc["end"] = nil
	}
	if notes, ok := doc["notes"].([]any); ok {
		doc["notes"] = slices.DeleteFunc(notes, func(n any) bool { return recordingOnly.MatchString(n.(string)) })
	}
	if ring, ok := doc["ring"].(map[string]any); ok {
		delete(ring, "bytes") // a size
	}
	if _, states := doc["transitions"]; states {
		for _, key := range []string{"from_ns", "to_ns", "goroutines", "transitions", "switches", "checks", "problems", "all_ns", "runtime_ns"} {
			delete(doc, key)
		}
	}
	if places, ok := doc["places"].([]any); ok {
		for _, p := range places {
			for key, value := range p.(map[string]any) {
				if _, list := value.([]any); list {
					delete(p.(map[string]any), key) // the wakers
				}
			}
		}
	}
	b, err := json.MarshalIndent(doc, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// clippedStates clips the rows of states to a range, without their CPU time and arguments, and sorts
// them: a state that lasts longer than the excerpt's part of Go's execution trace ends with that.
func clippedStates(out string, from, to int64) string {
	var rest, list []string
	for line := range strings.Lines(out) {
		f := strings.SplitN(line, ",", 9)
		if f[0] != "state" {
			rest = append(rest, line)
			continue
		}
		start, err1 := strconv.ParseInt(f[6], 10, 64)
		dur, err2 := strconv.ParseInt(f[7], 10, 64)
		if end := start + dur; err1 == nil && err2 == nil && (start < from || end > to) {
			f[6], f[7], f[8] = strconv.FormatInt(max(start, from), 10), strconv.FormatInt(min(end, to)-max(start, from), 10), "\n"
		}
		list = append(list, strings.Join(f, ","))
	}
	slices.Sort(list)
	return strings.Join(append(rest, list...), "")
}

// sameReports compares the reports of an excerpt with those of its range of the trace, and those
// without a range with both.
func sameReports(t *testing.T, src string, from, to int64, commands []string) {
	t.Helper()
	part := filepath.Join(t.TempDir(), "part.scope")
	span := []string{"--from", fmt.Sprint(from, "ns"), "--to", fmt.Sprint(to, "ns")}
	if r := scopeview(append([]string{"snapshot", src, "-o", part}, span...)...); r.code != exitOK {
		t.Fatalf("%v", r)
	}
	if r, of := scopeview("verify", part), scopeview("verify", src); r.code != exitOK && of.code == exitOK {
		t.Errorf("%d to %d: verify: %v", from, to, r)
	}
	for _, command := range commands {
		args := strings.Fields(command)
		of := scopeview(slices.Concat(args, []string{src}, span)...)
		ranged := scopeview(slices.Concat(args, []string{part}, span)...)
		if whole := scopeview(append(args, part)...); whole.out != ranged.out || whole.code != ranged.code {
			t.Errorf("%d to %d: %s differs with and without the range:\n%s", from, to, command, firstDifference(whole.out, ranged.out))
		}
		want, got := comparable(t, command, src, of.out, from, to), comparable(t, command, part, ranged.out, from, to)
		if want != got || of.code != ranged.code {
			t.Errorf("%d to %d: %s: the trace (%d) and the excerpt (%d) differ:\n%s\n%s", from, to, command, of.code, ranged.code, firstDifference(want, got), ranged.err)
		}
	}
}

// firstDifference returns the first lines in which two texts differ.
func firstDifference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range max(len(x), len(y)) {
		at := func(list []string) string {
			if i < len(list) {
				return list[i]
			}
			return "(the end)"
		}
		if at(x) != at(y) {
			return "\t" + at(x) + "\n\t" + at(y)
		}
	}
	return ""
}

// TestExcerptReports: every report of a range is the same of the trace and of its excerpt: of all
// kinds of recordings. The ranges are before the goroutine ends that leaves a scope open: states reads
// scopes as they were recorded, so it counts that as open for ever, and an excerpt of later does not
// have it.
func TestExcerptReports(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	service(t, at("states.scope"), 1800*time.Millisecond, 3*time.Millisecond, gotrace.With(gotrace.WithHeap()))
	if r := scopeview("pack", at("states.scope"), "-o", at("packed.scopez")); r.code != exitOK {
		t.Fatal(r)
	}
	service(t, at("ring.scope"), time.Second, 0, scope.WithRing(4<<20))
	service(t, at("ringstates.scope"), 1800*time.Millisecond, time.Millisecond, scope.WithRing(4<<20), gotrace.With())
	service(t, at("segments.scope"), time.Second, 0, scope.WithSegments(1<<20, 3))
	for _, name := range []string{"states.scope", "packed.scopez", "ring.scope", "ringstates.scope", "segments.scope"} {
		t.Run(name, func(t *testing.T) {
			tr := tracetest.OpenFile(t, at(name))
			end, overwritten := tr.End(), tr.Overwritten().Records
			tr.Close()
			if (name == "ring.scope" || name == "segments.scope") && overwritten == 0 {
				t.Error("nothing was overwritten")
			}
			ranges, commands := [][2]float64{{0.1, 0.3}, {0.5, 0.55}, {0.57, 0.58}, {0, 1}}, reports
			switch name { // each range reads the trace some fifty times
			case "packed.scopez":
				ranges, commands = ranges[1:2], []string{"top", "states", "export csv"}
			case "ringstates.scope":
				ranges = ranges[2:3]
			}
			for _, r := range ranges {
				sameReports(t, at(name), int64(r[0]*float64(end)), int64(r[1]*float64(end)), commands)
			}
		})
	}
}

// TestExcerptOfExcerpt: the same of an excerpt of an excerpt.
func TestExcerptOfExcerpt(t *testing.T) {
	dir := t.TempDir()
	src, part := filepath.Join(dir, "src.scope"), filepath.Join(dir, "part.scope")
	service(t, src, 1500*time.Millisecond, 5*time.Millisecond, gotrace.With())
	if r := scopeview("snapshot", src, "-o", part, "--from", "300ms", "--to", "800ms"); r.code != exitOK {
		t.Fatal(r)
	}
	sameReports(t, part, 500e6, 550e6, []string{"top", "waits", "states", "states --by site", "profile", "export csv", "export csv --states"})
}

// TestExcerptOfGoldens: the same of the traces of earlier versions.
func TestExcerptOfGoldens(t *testing.T) {
	paths, err := filepath.Glob("../../internal/trace/testdata/v1*/*.scope.gz")
	if err != nil || len(paths) < 10 {
		t.Fatal(paths, err)
	}
	for _, p := range paths {
		t.Run(filepath.Base(filepath.Dir(p))+"/"+filepath.Base(p), func(t *testing.T) {
			z, err := gzip.NewReader(bytes.NewReader(filetest.Read(t, p)))
			if err != nil {
				t.Fatal(err)
			}
			b, err := io.ReadAll(z)
			if err != nil {
				t.Fatal(err)
			}
			src := filepath.Join(t.TempDir(), "src.scope")
			filetest.Write(t, src, b)
			tr := tracetest.OpenFile(t, src)
			end := tr.End()
			tr.Close()
			for _, r := range [][2]float64{{0.1, 0.3}, {0.5, 0.55}, {0, 1}} {
				sameReports(t, src, int64(r[0]*float64(end)), int64(r[1]*float64(end)), reports)
			}
		})
	}
}

// TestExcerptCommand: the excerpt's reports say what it is; a range that the trace does not have, or
// the excerpt, is an error.
func TestExcerptCommand(t *testing.T) {
	scriptTrace(t, "store")
	tr := tracetest.OpenFile(t, "store.scope")
	end := tr.End()
	tr.Close()
	quarter := func(n int64) string { return fmt.Sprint(n*end/4, "ns") }
	r := scopeview("snapshot", "store.scope", "--from", quarter(1), "--to", quarter(2))
	if r.code != exitOK || !regexp.MustCompile(`^store-snapshot-\d{8}T\d{6}\.\d{3}Z\.scope\n$`).MatchString(r.out) {
		t.Fatalf("%v", r)
	}
	name := strings.TrimSpace(r.out)
	for _, command := range []string{"info", "top", "waits"} {
		if r := scopeview(command, name); r.code != exitOK || !strings.Contains(r.out, "an excerpt: from ") || !strings.Contains(r.out, " of a recording of ") {
			t.Errorf("%s: %v", command, r)
		}
	}
	if r := scopeview("info", "--json", name); !strings.Contains(r.out, `"excerpt":{"from_ns":`) && !strings.Contains(r.out, `"excerpt": {`) {
		t.Errorf("%v", r)
	}
	for args, want := range map[string]struct {
		code int
		text string
	}{
		"snapshot store.scope -o x.scope --from 1h":                                 {exitFailed, "the range begins at 60m00s"},
		"snapshot store.scope -o x.scope --from 2ms --to 1ms":                       {exitUsage, "--to 1ms is before --from 2ms"},
		"snapshot store.scope -o x.scope --from yesterday":                          {exitUsage, "invalid time"},
		"snapshot --triggered . --from 1ms":                                         {exitUsage, "--from and --to"},
		"snapshot store.scope -o store.scope --from 1ms":                            {exitFailed, "give another name with -o"},
		"snapshot " + name + " -o x.scope --from " + quarter(3):                     {exitUsage, "an excerpt: from"},
		"top " + name + " --to 1ns":                                                 {exitUsage, "an excerpt: from"},
		"snapshot store.scope -o no/dir.scope --from 1ns --to 2ns":                  {exitFailed, "give another file with -o"},
		"snapshot gone.scope --from 1ns":                                            {exitFailed, "no such file"},
		"snapshot store.scope -o x.scope --from 2001-01-01T00:00:00Z --to -999999h": {exitUsage, "is not after the trace's start"},
	} {
		if r := scopeview(strings.Fields(args)...); r.code != want.code || !strings.Contains(r.err, want.text) {
			t.Errorf("%s: %v", args, r)
		}
	}
	files(t, ".", "store.scope", name)
	if st, err := os.Stat(name); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", st, err)
	}
}
