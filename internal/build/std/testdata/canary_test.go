package main

import (
	"os"
	"testing"

	"github.com/scopeview/scopeview/scope"
	_ "github.com/scopeview/scopeview/scope/hooks"
)

func TestMain(m *testing.M) {
	if err := scope.Start(os.Getenv("CANARY_TRACE")); err != nil {
		panic(err)
	}
	m.Run()
	os.Exit(0) // without Stop
}

func TestParent(t *testing.T) {
	t.Run("first", func(t *testing.T) { t.Parallel() })
	t.Run("second", func(t *testing.T) { t.SkipNow() })
	t.Run("third", func(t *testing.T) { t.FailNow() })
}

func FuzzSeed(f *testing.F) {
	f.Add(1)
	f.Fuzz(func(t *testing.T, n int) {})
}

func BenchmarkNothing(b *testing.B) {
	for range b.N {
	}
}
