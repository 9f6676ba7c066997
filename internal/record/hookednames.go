//go:build !scope_off

package record

import (
	"strings"
	"sync"
	"sync/atomic"
)

// labelNames holds the names of scopes with profiler labels, by the labels' keys. After
// maxLabelNames, no more are added.
var labelNames struct {
	all atomic.Pointer[map[string]string]
	mu  sync.Mutex
}

const (
	maxLabelNames = 1000
	manyLabels    = "pprof.Do" // the name of all others
)

// LabelsName returns the name of a scope with profiler labels, which are its arguments. It
// consists of the keys only, because the number of values is unbounded: pprof.Do(endpoint,
// tenant).
func LabelsName(labels []any) string {
	var buf [128]byte
	key := buf[:0]
	for _, l := range labels {
		if l, ok := l.(Arg); ok {
			key = append(append(key, l.key...), ", "...)
		}
	}
	t := &labelNames
	if all := t.all.Load(); all != nil {
		if name, ok := (*all)[string(key)]; ok {
			return name
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	by := map[string]string{}
	if all := t.all.Load(); all != nil {
		for k, v := range *all {
			by[k] = v
		}
	}
	if len(by) >= maxLabelNames {
		return manyLabels
	}
	by[string(key)] = manyLabels + "(" + strings.TrimSuffix(string(key), ", ") + ")"
	t.all.Store(&by)
	return by[string(key)]
}

// TestNamed returns the name of a test's scope and row, and its arguments. When names get
// scarce, subtests have the name of their test, and their own name as an argument.
func TestNamed(name string) (called string, args []any) {
	if top, _, sub := strings.Cut(name, "/"); sub && NamesCrowded() {
		return top, []any{KV(TestName, name)}
	}
	return name, nil
}
