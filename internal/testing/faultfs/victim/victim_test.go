//go:build linux && !scope_off

package victim_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/testing/faultfs/victim"
	"github.com/scopeview/scopeview/internal/testing/shmtest"
	"github.com/scopeview/scopeview/scope"
)

func TestMain(m *testing.M) {
	victim.Main(map[string]victim.Work{"nested": nested})
	os.Exit(shmtest.Run(m.Run))
}

// nested is a work with records besides.
func nested(w *victim.Worker) {
	for n := uint64(0); !w.Stopped() && n < w.Scopes; n++ {
		w.Begun(n)
		s := scope.Begin(victim.Name, w.Me, int(n))
		kept := s != (scope.Span{})
		w.Kept(kept)
		scope.Task("inner")()
		w.Also(1)
		s.End()
		w.Ended(n, kept)
	}
	w.SetUser(w.Me, w.Scopes)
}

// TestFinish: victims end by themselves, and when stopped.
func TestFinish(t *testing.T) {
	for _, c := range []victim.Config{
		{Backing: "heap", Scopes: 1000},
		{Backing: "heap", Timed: true, Collect: true},
		{Scopes: 1000, Work: "nested", Workers: 2},
		{Ring: 4 << 20, Scopes: 100_000, Workers: 2},
	} {
		c.Path = filepath.Join(t.TempDir(), "t.scope")
		v := victim.Start(t, c)
		var r *victim.Result
		if c.Scopes > 0 {
			r = v.Wait(t)
		} else {
			v.Until(t, "scopes and collections", func() bool { _, n := v.Pause(); return v.Ended() > 1000 && n > 3 })
			r = v.Finish(t)
		}
		f := v.Check(t, r.Path)
		want := int64(c.Scopes) * int64(v.Workers)
		if c.Work == "nested" {
			want *= 2
			if v.User(1) != c.Scopes {
				t.Errorf("the work says %d, want %d", v.User(1), c.Scopes)
			}
		}
		if c.Scopes > 0 && f.Issued != want || f.Ended == 0 || f.Open != 0 {
			t.Errorf("%+v: %v, want %d issued", c, f, want)
		}
		if calls, nothing := v.Calls(); c.Timed && (calls.N() != v.Ended() || nothing.N() != v.Ended() || v.Worst() == 0) {
			t.Errorf("%d scopes, the times of %d were taken, the worst is %v", v.Ended(), calls.N(), v.Worst())
		}
		if pause, n := v.Pause(); c.Collect && (pause == 0 || pause > time.Minute || n == 0) {
			t.Errorf("the longest pause of %d is %v", n, pause)
		}
	}
}

// TestKill kills one, and finds what it counted.
func TestKill(t *testing.T) {
	for backing := range victim.Backings() {
		path := filepath.Join(t.TempDir(), "t.scope")
		v := victim.Start(t, victim.Config{Path: path, Backing: backing, Workers: 2, Hold: true})
		v.Release(t)
		v.Until(t, "scopes", func() bool { return v.Ended() > 5000 })
		v.Polled(t)
		v.Kill(t)
		f := v.Check(t, path)
		if backing != "heap" && f.Ended < 5000 || f.Closed || v.Recorded() == 0 {
			t.Errorf("%s: %v, %d recorded", backing, f, v.Recorded())
		}
	}
}
