//go:build !scope_off

package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/merge"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "-as" { // the fleet has started it
		os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// TestFleet: each request is one over all five services. Who was asked knows which scope of
// which process has asked, and what was slow because of the lock was kept.
func TestFleet(t *testing.T) {
	dir := t.TempDir()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	slow := func() []string {
		list, _ := filepath.Glob(filepath.Join(dir, "slow", "front-slow-*.scope"))
		return list
	}
	go func() {
		for len(slow()) == 0 && ctx.Err() == nil {
			time.Sleep(10 * time.Millisecond)
		}
		stop()
	}()
	stderr, err := os.Create(filepath.Join(t.TempDir(), "stderr")) // all of them write to it
	if err != nil {
		t.Fatal(err)
	}
	defer stderr.Close()
	var stdout bytes.Buffer
	code := run(ctx, []string{"-n", "5", "-dir", dir, "-rate", "200", "-count", "300ms", "-limit", "20ms"}, nil, &stdout, stderr)
	said, err := os.ReadFile(stderr.Name())
	if err != nil || code != 0 || len(said) > 0 || len(slow()) == 0 {
		t.Fatalf("exit %d, %s, %v; slow: %q", code, said, err, slow())
	}
	also, err := os.ReadFile(filepath.Join(dir, "also"))
	if err != nil || strings.Count(string(also), "--also\nhttp://127.0.0.1:") != 5 {
		t.Errorf("%s, %v", also, err)
	}
	type scope struct {
		role, name string
		link       format.Link
	}
	byRole := map[string][]scope{}
	bySpan := map[[8]byte]scope{}
	var inputs []merge.Input
	for _, role := range roles {
		list, _ := filepath.Glob(filepath.Join(dir, role+"-*.scope"))
		if len(list) != 1 {
			t.Fatalf("%s has %d traces", role, len(list))
		}
		inputs = append(inputs, merge.Input{Path: list[0]})
		tr := tracetest.OpenFile(t, list[0])
		for e := range tracetest.Events(t, tr, trace.Options{}) {
			if l, ok := e.Link(); ok && e.Kind == format.KindTask {
				x := scope{role, tr.Name(e.Name), l}
				byRole[role] = append(byRole[role], x)
				bySpan[l.Span] = x
			}
		}
	}
	// Of each service's requests the scope that they are part of, and whose it is.
	requests := 0
	for role, want := range map[string][2]string{
		"orders": {"POST /orders/{item}", "front"}, "users": {"GET /users/{id}", "orders"},
		"stock": {"POST /reserve/{item}", "orders"}, "mail": {"POST /mail/{item}", "orders"},
	} {
		n := 0
		for _, x := range byRole[role] {
			if x.name != want[0] {
				continue
			}
			n++
			by, ok := bySpan[x.link.Parent]
			if !ok || by.role != want[1] || by.link.Trace != x.link.Trace {
				t.Fatalf("%s: %+v is part of %+v, %v", role, x, by, ok)
			}
		}
		if requests += n; n == 0 {
			t.Errorf("%s has no requests: %+v", role, byRole[role])
		}
	}
	t.Logf("%d requests between services, each as part of the scope that has sent it", requests)

	// As one trace the request that was slow is in all five processes.
	whole := filepath.Join(t.TempDir(), "whole.scope")
	if _, err := merge.Files(t.Context(), inputs, whole, nil); err != nil {
		t.Fatal(err)
	}
	tr := tracetest.OpenFile(t, whole)
	processes, slowest := map[[16]byte]map[uint32]bool{}, [16]byte{}
	var longest int64
	for e := range tracetest.Events(t, tr, trace.Options{}) {
		if l, ok := e.Link(); ok {
			if processes[l.Trace] == nil {
				processes[l.Trace] = map[uint32]bool{}
			}
			p, _ := tr.ProcessOf(e.Goid)
			processes[l.Trace][p.PID] = true
			if tr.Name(e.Name) == "GET /buy/{item}" && e.Dur > longest {
				slowest, longest = l.Trace, e.Dur
			}
		}
	}
	if n := len(processes[slowest]); n != len(roles) || longest < int64(20*time.Millisecond) {
		t.Errorf("the slowest request took %v, in %d processes", time.Duration(longest), n)
	}
}

func TestUsage(t *testing.T) {
	for _, args := range []string{"-n 4", "-for 0s", "-rate 0", "-count 0", "x", "-nothing"} {
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), strings.Fields(args), nil, &stdout, &stderr); code != 2 || stderr.Len() == 0 {
			t.Errorf("%s: exit %d, %s", args, code, stderr.String())
		}
	}
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), []string{"-as", "nobody"}, strings.NewReader(""), &stdout, &stderr); code != 1 || !strings.Contains(stderr.String(), "there is no service") {
		t.Errorf("exit %d, %s", code, stderr.String())
	}
}
