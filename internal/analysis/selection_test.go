package analysis

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/scopeview/scopeview/internal/glob"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
)

func TestSelectedBeats(t *testing.T) {
	tr := tracetest.OpenText(t, `header start=1000 mono=1000 rate=1000000000
state closed=1 tick=9000
chunk blocks
beat ticks=2000 user_ns=1
beat ticks=4000 user_ns=2
beat ticks=6000 user_ns=3
stop ticks=9000
`)
	only := func(text string) glob.Filter {
		f, err := glob.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	for _, test := range []struct {
		about string
		s     Selection
		want  []int64
	}{
		{"all", Selection{}, []int64{1000, 3000, 5000}},
		{"from a beat on", Selection{From: 3000}, []int64{3000, 5000}},
		{"to a beat", Selection{To: 3000}, []int64{1000, 3000}},
		{"between", Selection{From: 3001, To: 4999}, nil},
		{"by name", Selection{Names: only("f")}, nil},
		{"by row", Selection{Tracks: only("worker*")}, nil},
		{"all names but one", Selection{Names: only("*,-f")}, []int64{1000, 3000, 5000}},
	} {
		var got []int64
		beats := test.s.Beats(tr)
		for ; beats.Next != nil; beats.Advance() {
			got = append(got, beats.Next.Time)
		}
		beats.Stop()
		if !slices.Equal(got, test.want) || beats.Err != nil {
			t.Errorf("%s: %v, %v; want %v", test.about, got, beats.Err, test.want)
		}
	}
	beats := new(Selection).Beats(tr)
	beats.Stop()
	if beats.Advance(); beats.Next != nil || beats.Err != nil {
		t.Errorf("once stopped there is %v, %v", beats.Next, beats.Err)
	}
}

func TestWatch(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	var reported []int64
	w := (&Selection{Progress: func(ns int64) { reported = append(reported, ns) }}).Watch()
	read := func() (stopped int64, err error) {
		for i := range int64(100_000) {
			if err := w.Look(ctx, i); err != nil {
				return i, err
			}
		}
		return 0, nil
	}
	if at, err := read(); err != nil || len(reported) != 6 || !slices.IsSorted(reported) {
		t.Errorf("progress %v, stopped at %d: %v", reported, at, err)
	}
	cancel()
	if at, err := read(); !errors.Is(err, context.Canceled) || at > 1<<14 || len(reported) != 6 {
		t.Errorf("stopped at %d: %v; progress %v", at, err, reported)
	}
}
