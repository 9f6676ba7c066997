package scope

import (
	"testing"
	"time"
)

func TestSmoke(t *testing.T) {
	dir := t.TempDir()
	t0 := time.Now()
	if err := Start(dir); err != nil {
		t.Fatal(err)
	}
	t.Log("start", time.Since(t0))
	for i := range 1000 {
		func() {
			defer Task("outer")()
			defer Task("inner", i, 2)()
		}()
	}
	t.Logf("%+v", Stats())
	t0 = time.Now()
	if err := Stop(); err != nil {
		t.Fatal(err)
	}
	t.Log("stop", time.Since(t0))
	t.Logf("%+v", Stats())
}

func BenchmarkTask(b *testing.B) {
	if err := Start(b.TempDir(), WithLimit(8<<30)); err != nil {
		b.Fatal(err)
	}
	defer Stop()
	b.ReportAllocs()
	for b.Loop() {
		f()
	}
	b.StopTimer()
	if n := Stats().Lost.Total(); n != 0 {
		b.Errorf("lost %d %+v", n, Stats())
	}
}

func f() { defer Task("f1")() }
