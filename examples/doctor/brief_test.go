//go:build !scope_off

package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/testing/filetest"
)

// need is the information for mending an example that a page of scopeview doctor --brief
// must contain. "": a trace cannot contain it.
type need struct {
	file   string   // where the problem is
	lines  []string // alternatives for a text in one of its lines
	object string   // what it is called, or how that begins
	holder string   // holder of the lock
	change []string // what is to be done: one of these
}

// needs are those of all problems. Where no lock is the cause, nobody has it. What takes more CPU time,
// or memory, or runs alone, has no name in a trace but that of its scope.
var needs = map[string]need{
	"lock-contention":        {"lockcontention.go", []string{"c.mu.Lock()"}, "words.mu", "count page", []string{"its own copy of the guarded data"}},
	"fat-critical-section":   {"fatcritical.go", []string{`scope.Task("copy"`, `scope.Task("clean"`}, "queue.mu", "letter", []string{"out of the critical section"}},
	"serialization":          {"serialization.go", []string{"n := <-w.first[i]"}, "main.(*numberer).work serialization.go:", "", []string{"hand on as soon as the next one can begin"}},
	"work-inflation":         {"workinflation.go", []string{"t[document[i]&3].Add(1)", "for i := range len(document)", "beside[worker].count("}, "", "", []string{"from writing to the same cache lines"}},
	"memory-bandwidth":       {"memorybandwidth.go", []string{"pixels[i] += x ^ n", "for i, x := range layer", "p.filter(uint64(n), 0, len(p.pixels))"}, "", "", []string{"Move less memory", "more cores do not help"}},
	"load-imbalance":         {"loadimbalance.go", []string{"inParallel(processors, func(worker int)"}, "main.inParallel main.go:", "", []string{"small parts from a common counter"}},
	"too-fine":               {"toofine.go", []string{"running.Go(f)", "guarded(func()"}, "main.guarded toofine.go:", "", []string{"a fixed number of workers that take many items each"}},
	"oversubscription":       {"oversubscription.go", []string{"runtime.Gosched()"}, "main.oversubscription.func1.1 oversubscription.go:", "", []string{"as many workers as there are cores"}},
	"not-enough-parallelism": {"notenough.go", []string{`scope.Task("merge"`}, "", "", []string{"over several goroutines"}},
	"gc":                     {"garbage.go", []string{"buffer = make([]byte, size)"}, "", "", []string{"reuse buffers"}},
	"channel":                {"channel.go", []string{"<-"}, "main.channel.func2.1 channel.go:", "", []string{"several values at a time"}},
	"convoy":                 {"convoy.go", []string{"t.mu.Lock()"}, "table.mu", "answer", []string{"split the guarded data into shards"}},
	"spinning":               {"spinning.go", []string{`scope.Retry("poll packed")`, "poll.Again()"}, "poll packed", "", []string{"Block instead of polling"}},
	"page-faults":            {"pagefaults.go", []string{"buffer[i] = byte(", "for i := range buffer", "draw(buffer["}, "", "", []string{"one buffer for many rounds"}},
	"blocking-under-lock":    {"blocking.go", []string{"time.Sleep(8"}, "cache.mu", "page", []string{"before Lock or after Unlock"}},
}

// satisfied is the result for a need: yes, with the place, or n/a.
type satisfied struct {
	file, line, object, holder, change string
	tokens                             int
	missing                            []string
}

// check looks for what is needed on a page.
func (n need) check(t *testing.T, page string) satisfied {
	t.Helper()
	r := satisfied{tokens: report.Tokens(page)}
	_, page, _ = strings.Cut(page, "\n## Problem 1: ") // the first problem
	page, _, _ = strings.Cut(page, "\n## ")
	find := func(what string, wanted bool, is string) string {
		switch {
		case !wanted:
			return "n/a"
		case is == "":
			r.missing = append(r.missing, what)
			return "MISSING"
		}
		return is
	}
	contains := func(texts ...string) string {
		for _, text := range texts {
			if strings.Contains(page, text) {
				return "yes"
			}
		}
		return ""
	}
	r.file = find("file", true, contains("/examples/doctor/"+n.file+":"))
	r.line = find("line", true, n.line(t, page))
	r.object = find("object", n.object != "", contains("\n- object: `"+n.object))
	r.holder = find("holder", n.holder != "", contains("\n- holder: `"+n.holder+"`"))
	_, try, _ := strings.Cut(page, "\n- try: ")
	page, _, _ = strings.Cut(try, "\n")
	r.change = find("change", true, contains(n.change...))
	return r
}

var sourceItem = regexp.MustCompile("\n- source: `[^`]*/examples/doctor/([a-z]+\\.go):([0-9]+)`")

// line returns the first line on a page which is where the problem is: "" without one.
func (n need) line(t *testing.T, page string) string {
	t.Helper()
	b := filetest.Read(t, n.file)
	lines := strings.Split(string(b), "\n")
	for _, m := range sourceItem.FindAllStringSubmatch(page, -1) {
		i, err := strconv.Atoi(m[2])
		if m[1] != n.file || err != nil || i < 1 || i > len(lines) {
			continue
		}
		for _, text := range n.lines {
			if strings.Contains(lines[i-1], text) {
				return m[1] + ":" + m[2]
			}
		}
	}
	return ""
}

// checkBriefs describes each problem by its page alone, and prints which needs it satisfies.
func (x tools) checkBriefs(t *testing.T) {
	fmt.Println("| problem | tokens | file | line | object | holder | change |")
	fmt.Println("|---|---|---|---|---|---|---|")
	for _, p := range programs {
		if n, ok := needs[p.name]; ok {
			t.Run(p.name, func(t *testing.T) { x.checkBrief(t, p.name, n) })
		}
	}
}

func (x tools) checkBrief(t *testing.T, name string, n need) {
	if name == "memory-bandwidth" {
		if longer := x.measureMemory(t); longer < worthwhile {
			t.Skipf("two cores move memory almost as fast as one does: it takes %.2f times longer", longer)
		}
	}
	var v seen
	for range patience {
		if v = x.record(t, name, setting{strength: "1"}); is(v.top(), name) {
			break
		}
	}
	if !is(v.top(), name) {
		t.Fatalf("it is not found in %d runs", patience)
	}
	r := n.check(t, v.brief)
	fmt.Printf("| %s | %d | %s | %s | %s | %s | %s |\n", name, r.tokens, r.file, r.line, r.object, r.holder, r.change)
	if len(r.missing) > 0 {
		t.Errorf("who mends it by the page alone lacks %s:\n%s", strings.Join(r.missing, ", "), v.brief)
	}
}

// TestNeedsOfAll: each problem has its line in the table.
func TestNeedsOfAll(t *testing.T) {
	for _, p := range programs {
		if _, ok := needs[p.name]; ok == strings.HasPrefix(p.name, "healthy") {
			t.Errorf("what %s needs is not said", p.name)
		}
	}
}
