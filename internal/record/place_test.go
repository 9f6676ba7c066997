//go:build !scope_off

package record_test

import (
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/internal/trace"
	. "github.com/scopeview/scopeview/scope"
)

// contendIn makes another goroutine wait for l in a call of lock.
func contendIn(t *testing.T, state *record.LockState, l sync.Locker, lock func(sync.Locker)) {
	t.Helper()
	l.Lock()
	var wg sync.WaitGroup
	wg.Go(func() {
		lock(l)
		l.Unlock()
	})
	until(t, "somebody to wait", func() bool { return waiters(state) == 1 })
	l.Unlock()
	wg.Wait()
}

// TestPlacesAreTold: each recording has the full path of a place once, with the kind of the
// lock. For two files with the same name and line, both are recorded.
func TestPlacesAreTold(t *testing.T) {
	perBacking(t, func(t *testing.T, backing Option) {
		for range 2 {
			start(t, backing)
			m, rw := &Mutex{}, &RWMutex{}
			for range 2 {
				contendIn(t, stateOf(m), m, lockHere)
			}
			for _, first := range []bool{true, false} {
				contendIn(t, stateOf(rw), rw, func(l sync.Locker) { lockInTwoFiles(l, first) })
			}
			named := &Mutex{Name: "named"}
			contendIn(t, stateOf(named), named, lockThere)
			stop(t)
			tr, err := trace.OpenFile(Path())
			if err != nil {
				t.Fatal(err)
			}
			defer tr.Close()
			found, files := map[string]int{}, map[string]string{}
			for _, p := range tr.Places() {
				kind := format.LockMutex
				if strings.HasSuffix(p.Function, ".lockInTwoFiles") {
					kind = format.LockRWMutex
				}
				function := p.Function[strings.LastIndexByte(p.Function, '.')+1:]
				found[function]++
				files[filepath.Base(filepath.Dir(p.File))] = tr.Name(p.Name)
				if p.Kind != kind || !filepath.IsAbs(p.File) || p.Line == 0 {
					t.Errorf("%s is %+v", tr.Name(p.Name), p)
				}
			}
			if found["lockHere"] != 1 || found["lockThere"] != 0 || found["lockInTwoFiles"] != 2 {
				t.Errorf("places in functions: %v", found)
			}
			if files["one"] != "record_test.lockInTwoFiles x.go:10" || !strings.HasSuffix(files["two"], "/record_test.lockInTwoFiles /two/x.go:10") {
				t.Errorf("places in files: %q", files)
			}
		}
	})
}

// lockInTwoFiles is in two files, according to its line directives.
//
//go:noinline
func lockInTwoFiles(l sync.Locker, first bool) {
	if first {
//line /one/x.go:10
		l.Lock()
	} else {
//line /two/x.go:10
		l.Lock()
	}
}
