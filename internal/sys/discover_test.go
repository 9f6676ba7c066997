//go:build linux && (amd64 || arm64) && go1.26 && !go1.28 && !scope_pure && !scope_go && !race

package sys

import (
	"testing"
	"time"
	"unsafe"
)

func TestDiscoverFindsTheRuntime(t *testing.T) {
	t0 := time.Now()
	l, missing, err := discover()
	t.Logf("%+v in %v", l, time.Since(t0))
	if missing != "" || err != nil {
		t.Fatal(missing, err)
	}
}

// anM is an M without a p, like that of a goroutine that has just been preempted.
var (
	anM   [64]uint64
	toAnM = &anM
)

// TestNoP: a goroutine's p may be missing at any moment.
func TestNoP(t *testing.T) {
	mem, err := newMemory()
	if err != nil {
		t.Fatal(err)
	}
	defer mem.close()
	offset := uintptr(unsafe.Pointer(&toAnM)) - getg()
	p := probe{"m": {offset: true}, "p": {0: true}}
	if p.schedule(mem) {
		t.Error("words were found to count in no p at all")
	}
}
