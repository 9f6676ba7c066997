//go:build !scope_off

package record

import (
	"strings"
	"sync"
	"sync/atomic"
)

// labelNames are the names of scopes with profiler labels, by the keys of these. Beyond
// maxLabelNames there are no new ones.
var labelNames struct {
	all atomic.Pointer[map[string]string]
	mu  sync.Mutex
}

const (
	maxLabelNames = 1000
	manyLabels    = "pprof.Do" // what others are called
)

// LabelsName returns what a scope is called that has profiler labels, which are its arguments.
// It is the keys alone, as values may be of any number: pprof.Do(endpoint, tenant).
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
