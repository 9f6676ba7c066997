//go:build !scope_off

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
)

// TestMain is the stock's process where a test has begun one.
func TestMain(m *testing.M) {
	if slices.Contains(os.Args, "-stock") {
		main()
		return
	}
	os.Exit(m.Run())
}

// TestOneRequest: each order is one trace id, over goroutines and processes, and each of its
// scopes is a part of the one that asked for it.
func TestOneRequest(t *testing.T) {
	for processes, apart := range []bool{false, true} {
		t.Run(fmt.Sprint("apart ", apart), func(t *testing.T) {
			dir := t.TempDir()
			if err := run(dir, 2, apart); err != nil {
				t.Fatal(err)
			}
			paths, err := filepath.Glob(filepath.Join(dir, "*.scope"))
			if err != nil || len(paths) != processes+1 {
				t.Fatalf("the traces are %q, %v", paths, err)
			}
			type seen struct {
				name string
				link format.Link
			}
			orders := map[[16]byte][]seen{}
			goroutines := map[string]bool{}
			for _, path := range paths {
				tr := tracetest.OpenFile(t, path)
				for e := range tracetest.Events(t, tr, trace.Options{}) {
					if l, ok := e.Link(); ok {
						name, _, _ := strings.Cut(tr.Name(e.Name), " 127.")
						orders[l.Trace] = append(orders[l.Trace], seen{name, l})
						goroutines[fmt.Sprint(path, e.Goid)] = true
					}
				}
			}
			if len(orders) != 2 || len(goroutines) < 4 {
				t.Errorf("%d orders on %d goroutines", len(orders), len(goroutines))
			}
			parts := map[string]string{"HTTP POST": "order", "POST /orders": "HTTP POST", "article": "POST /orders", "HTTP GET": "article",
				"GET /articles/{name}": "HTTP GET", "count": "GET /articles/{name}", "ordered": "POST /orders"}
			for _, all := range orders {
				if len(all) != 3+3*4+1 {
					t.Errorf("an order has %d scopes and events: %v", len(all), all)
				}
				for _, x := range all {
					parent := slices.IndexFunc(all, func(p seen) bool { return p.link.Span == x.link.Parent && p.link.Span != [8]byte{} })
					if want := parts[x.name]; want == "" && x.name != "order" || want != "" && (parent < 0 || all[parent].name != want) {
						t.Errorf("%s is not a part of %q", x.name, want)
					}
				}
			}
		})
	}
}
