//go:build linux

package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/hot"
	"github.com/scopeview/scopeview/internal/trace"
)

// mostPrinted is the maximum number of violations that are printed; the rest are only counted.
const mostPrinted = 20

// verdicts collects violations.
type verdicts struct {
	keep string // directory for the traces of what failed

	mu      sync.Mutex
	n       int
	printed []string
	kept    int
}

func (v *verdicts) fail(format string, args ...any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.n++; v.n <= mostPrinted {
		v.printed = append(v.printed, fmt.Sprintf(format, args...))
	}
}

func (v *verdicts) count() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.n
}

func (v *verdicts) list() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.n > mostPrinted {
		return append(v.printed, fmt.Sprintf("and %d more", v.n-mostPrinted))
	}
	return v.printed
}

// lossesOf returns the losses of a trace, by reason.
func lossesOf(path string) string {
	t, err := trace.OpenFile(path)
	if err != nil {
		return err.Error()
	}
	defer t.Close()
	return analysis.LossLine(t)
}

// evidence copies a trace to a permanent place, and returns that; a few are sufficient.
func (v *verdicts) evidence(path string) string {
	v.mu.Lock()
	v.kept++
	n := v.kept
	v.mu.Unlock()
	if n > 5 {
		return "not kept"
	}
	to := filepath.Join(v.keep, fmt.Sprintf("%d-%d.scope", os.Getpid(), n))
	if err := copyFile(to, path); err != nil {
		return "not kept: " + err.Error()
	}
	return to
}

func copyFile(to, from string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	in, err := hot.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	st, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	if _, err = io.Copy(out, io.NewSectionReader(in, 0, st.Size())); err != nil {
		out.Close()
		return err
	}
	return out.Close()
}
