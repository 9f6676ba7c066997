//go:build !scope_off

package record_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/trace"
	. "github.com/scopeview/scopeview/scope"
)

// fewer returns n, or less in short tests, which are for the slower paths, where a
// scope takes 50 µs.
func fewer(n int) int {
	if testing.Short() {
		return n / 4
	}
	return n
}

func ringSize() int64 {
	if testing.Short() {
		return 4 << 20
	}
	return 8 << 20
}

// TestRing records several times what a ring holds. The last records are left, without
// a gap per worker, and everything is accounted for; a scope that was open all the time
// is there with its name and arguments, and so are the rows' names.
func TestRing(t *testing.T) {
	perBacking(t, func(t *testing.T, backing Option) {
		perWorker := fewer(300_000)
		start(t, backing, WithRing(ringSize()), WithFlushEvery(20*time.Millisecond))
		issued := int64(0)
		long := Begin("long", "argument", KV("key", 7))
		issued++
		var wg sync.WaitGroup
		for g := range 2 {
			wg.Go(func() {
				Track(fmt.Sprint("worker ", g))
				for i := range perWorker {
					Task("step", i)()
					if i%200 == 199 {
						// Otherwise they are faster than the flusher, and records are
						// lost.
						time.Sleep(200 * time.Microsecond)
					}
				}
			})
		}
		wg.Wait()
		issued += int64(2 * (perWorker + 1))
		ended := Begin("ended", 1)
		issued++
		ended.End("end")
		finish(t)
		s := Stats()
		if s.Recorded+s.Overwritten+s.Lost.Total() != issued || s.Overwritten == 0 || s.Overwritten+s.Lost.Total() < issued/3 {
			t.Errorf("%d issued: %+v", issued, s)
		}
		st, err := os.Stat(Path())
		if err != nil || st.Size() > ringSize()+8*format.ChunkSize {
			t.Errorf("the file has %d bytes: %v", st.Size(), err)
		}
		verify(t, Path())
		n := int64(0)
		var there map[int64]int64 // start of each chunk, by number
		last := map[string]int64{}
		open := ""
		tr := each(t, Path(), func(tr *trace.Trace, e *trace.Event) {
			if there == nil {
				there = map[int64]int64{}
				for _, c := range tr.Chunks() {
					there[int64(c.Number)] = tr.Nanos(c.Since)
				}
			}
			if since, ok := there[int64(e.Loc)/format.ChunkSize]; ok && e.Start >= since {
				n++
			}
			switch tr.Name(e.Name) {
			case "step":
				row := tr.Name(e.Track)
				i := e.Args[0].Int()
				if before, ok := last[row]; ok && i != before+1 && s.Lost.Total() == 0 {
					t.Errorf("%s: step %d comes after %d", row, i, before)
				}
				if whole(tr, e) {
					last[row] = i
				}
			case "long":
				open = fmt.Sprint(e.Open, len(e.Args))
			}
		})
		_ = long
		if open != "true 3" { // the key is a slot of its own
			t.Errorf("the long scope is %q, want open with its arguments", open)
		}
		if n != s.Recorded {
			t.Errorf("%d recorded, the trace has %d besides those that were carried", s.Recorded, n)
		}
		if s.Lost.Total() == 0 && (last["worker 0"] != int64(perWorker-1) || last["worker 1"] != int64(perWorker-1)) {
			t.Errorf("the last steps are %v", last)
		}
		if over := tr.State(); over.Overwritten != s.Overwritten || over.Until <= 0 {
			t.Errorf("the trace says %+v, Stats %d overwritten", over, s.Overwritten)
		}
	})
}

// whole reports whether an event is from a time of which nothing was overwritten. Older
// chunks may be left whose owner was idle.
func whole(tr *trace.Trace, e *trace.Event) bool {
	return e.Start >= tr.Overwritten().Until
}

// TestRingEndsWhatWasOverwritten ends scopes long after their begin was overwritten, on
// their goroutine and on another, twice, and with arguments.
func TestRingEndsWhatWasOverwritten(t *testing.T) {
	perBacking(t, func(t *testing.T, backing Option) {
		start(t, backing, WithRing(4<<20), WithFlushEvery(10*time.Millisecond))
		same, other, more, twice := Begin("same", 1), Begin("other"), Begin("more", "begin"), Begin("twice")
		process := Process("process")
		round := func() {
			for was := Stats().Overwritten; Stats().Overwritten < was+int64(fewer(100_000)); {
				for range 500 {
					Task("fill")()
				}
				time.Sleep(500 * time.Microsecond)
			}
		}
		round()
		same.End()
		done := make(chan bool)
		go func() { other.End(); done <- true }()
		<-done
		more.End("end")
		twice.End()
		twice.End()
		process()
		if n := Stats().Misuse.DoubleEnds; n != 1 {
			t.Errorf("%d double ends, want 1", n)
		}
		finish(t)
		verify(t, Path())
		found, kept := map[string]string{}, int64(0)
		each(t, Path(), func(tr *trace.Trace, e *trace.Event) {
			name := tr.Name(e.Name)
			if e.Overwritten == (name == "fill") {
				t.Errorf("of %s the chunk is overwritten: %t", name, e.Overwritten)
			}
			if name != "fill" {
				found[name] += fmt.Sprintf("%v open=%t args=%d ends=%d", e.Kind, e.Open, len(e.Args), len(e.EndArgs))
			} else {
				kept++
			}
		})
		if s := Stats(); kept != s.Recorded {
			t.Errorf("%d records are in the ring, Stats says %d", kept, s.Recorded)
		}
		for name, want := range map[string]string{
			"same":    "task open=false args=1 ends=0",
			"other":   "task open=false args=0 ends=0",
			"more":    "task open=false args=1 ends=1",
			"twice":   "task open=false args=0 ends=0",
			"process": "process open=false args=0 ends=0",
		} {
			if found[name] != want {
				t.Errorf("%s is %q, want %q", name, found[name], want)
			}
		}
	})
}

// TestRingCountsOpenScopesThatItCannotKeep has more scopes open than a ring keeps. The
// rest is counted, and neither the scopes nor their ends make the trace invalid.
func TestRingCountsOpenScopesThatItCannotKeep(t *testing.T) {
	const scopes, kept = 4000, 1024
	perBacking(t, func(t *testing.T, backing Option) {
		start(t, backing, WithRing(4<<20), WithFlushEvery(10*time.Millisecond))
		long := make([]Span, scopes)
		for i := range long {
			long[i] = Begin("long")
		}
		for was := Stats().Overwritten; Stats().Overwritten < was+100_000; {
			for range 500 {
				Task("fill")()
			}
			time.Sleep(200 * time.Microsecond)
		}
		for _, s := range long[:scopes/2] {
			s.End()
		}
		issued := Stats().Recorded + Stats().Overwritten
		snapshot := filepath.Join(t.TempDir(), "snapshot.scope")
		if err := Snapshot(snapshot); err != nil {
			t.Fatal(err)
		}
		for _, s := range long[scopes/2:] {
			s.End()
		}
		finish(t)
		s := Stats()
		if s.Lost.Opens != scopes-kept {
			t.Errorf("%d open scopes were lost, want %d", s.Lost.Opens, scopes-kept)
		}
		if s.Recorded+s.Overwritten != issued {
			t.Errorf("%+v, and %d were recorded before the last ends", s, issued)
		}
		for _, path := range []string{Path(), snapshot} {
			verify(t, path)
			there, nameless := 0, 0
			tr, problems := eachAnyway(t, path, func(tr *trace.Trace, e *trace.Event) {
				if tr.Name(e.Name) == "long" {
					there++
				}
			})
			if there != kept || tr.Lost()[format.LossOpen] != scopes-kept {
				t.Errorf("%s has %d of them and lost %v, want %d and %d", path, there, tr.Lost(), kept, scopes-kept)
			}
			for _, p := range problems {
				nameless += int(p.Count)
				if p.Damage() {
					t.Errorf("%s has a defect: %s", path, p.Text)
				}
			}
			if nameless == 0 {
				t.Errorf("%s has no end without a name", path)
			}
		}
	})
}

// TestSnapshot takes a snapshot while workers record, and compares it with what they
// had done when it was requested.
func TestSnapshot(t *testing.T) {
	perBacking(t, func(t *testing.T, backing Option) {
		for _, name := range []string{"ring", "segments", "all"} {
			t.Run(name, func(t *testing.T) {
				opts := []Option{backing, WithFlushEvery(20 * time.Millisecond)}
				switch name {
				case "ring":
					opts = append(opts, WithRing(ringSize()))
				case "segments":
					opts = append(opts, WithSegments(ringSize()/4, 4))
				}
				start(t, opts...)
				var mu sync.Mutex
				done := 0
				stop := make(chan bool)
				var wg sync.WaitGroup
				wg.Go(func() {
					for {
						select {
						case <-stop:
							return
						default:
						}
						for range 100 {
							mu.Lock()
							Task("step", done)()
							done++
							mu.Unlock()
						}
						time.Sleep(200 * time.Microsecond)
					}
				})
				for deadline := time.Now().Add(30 * time.Second); ; {
					mu.Lock()
					n := done
					mu.Unlock()
					if n > fewer(300_000)/2 || time.Now().After(deadline) {
						break
					}
					time.Sleep(time.Millisecond)
				}
				mu.Lock()
				before := done
				mu.Unlock()
				path := filepath.Join(t.TempDir(), "snapshot.scope")
				if err := Snapshot(path); err != nil {
					t.Fatal(err)
				}
				if err := Snapshot(path); !errors.Is(err, ErrExists) {
					t.Errorf("an existing file: %v, want ErrExists", err)
				}
				if err := Snapshot(""); !errors.Is(err, ErrOption) {
					t.Errorf("no path: %v, want ErrOption", err)
				}
				close(stop)
				wg.Wait()
				if s := Stats(); s.Snapshots != 1 {
					t.Errorf("%d snapshots", s.Snapshots)
				}
				finish(t)
				if err := Snapshot(path + "2"); !errors.Is(err, ErrStopped) {
					t.Errorf("after Stop: %v, want ErrStopped", err)
				}
				verify(t, path)
				last := int64(-1)
				tr := each(t, path, func(tr *trace.Trace, e *trace.Event) {
					i := e.Args[0].Int()
					if last >= 0 && i != last+1 {
						t.Errorf("step %d comes after %d", i, last)
					}
					if whole(tr, e) {
						last = i
					}
				})
				if !tr.Closed() || last < int64(before)-1 {
					t.Errorf("the last step is %d, %d were done before; closed: %t", last, before, tr.Closed())
				}
			})
		}
	})
}

// TestTrigger: one of many requests is slow, and it is kept, with its children and what
// happened before.
func TestTrigger(t *testing.T) {
	perBacking(t, func(t *testing.T, backing Option) {
		dir := filepath.Join(t.TempDir(), "slow")
		every := func(o *record.Options) { o.SetTriggerEvery(time.Hour) }
		start(t, backing, WithRing(8<<20), WithFlushEvery(20*time.Millisecond), every,
			WithTrigger("request.*,-request.long", 30*time.Millisecond, dir), WithTrigger("never", time.Second, dir))
		request := func(name string, d time.Duration, n int) {
			defer Task(name, n)()
			child := Begin("child", n)
			time.Sleep(d)
			child.End()
		}
		Task("warm")()
		for i := range 200 {
			request("request.get", 0, i)
		}
		request("request.long", 40*time.Millisecond, 1)
		request("other", 40*time.Millisecond, 2)
		if s := Stats(); s.Slow > 0 {
			t.Skipf("the machine was too slow: %d triggers", s.Slow)
		}
		request("request.get", 50*time.Millisecond, 1003)
		request("request.get", 50*time.Millisecond, 1004) // too soon after the other
		var list []string
		for deadline := time.Now().Add(10 * time.Second); len(list) == 0 && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
			list, _ = filepath.Glob(filepath.Join(dir, "*-slow-*.scope"))
		}
		if err := Stop(); err != nil { // waits until it is complete
			t.Fatal(err)
		}
		list, _ = filepath.Glob(filepath.Join(dir, "*"))
		if s := Stats(); len(list) != 1 || s.Slow != 2 || s.Snapshots != 1 {
			t.Fatalf("%d files, %+v", len(list), s)
		}
		verify(t, list[0])
		found := map[string]int{}
		tr := each(t, list[0], func(tr *trace.Trace, e *trace.Event) {
			found[fmt.Sprintf("%s %d %t", tr.Name(e.Name), arg(e), e.Open)]++
		})
		for _, want := range []string{"request.get 1003 false", "child 1003 false", "request.get 0 false", "request.get 199 false", "request.long 1 false"} {
			if found[want] != 1 {
				t.Errorf("%q is there %d times", want, found[want])
			}
		}
		if why := tr.Lookup("snapshot_reason"); !strings.HasPrefix(why, "request.get took ") {
			t.Errorf("the reason is %q", why)
		}
	})
}

func arg(e *trace.Event) int64 {
	if len(e.Args) == 0 {
		return -1
	}
	return e.Args[0].Int()
}

// TestThin keeps the newest of a program's triggered snapshots, and does not touch
// other files.
func TestThin(t *testing.T) {
	dir := t.TempDir()
	var names []string
	for i := range record.TriggerFiles + 5 {
		names = append(names, fmt.Sprintf("%s-slow-2026010%dT%02d0000Z-1-00000000.scope", record.ProgramName(), 1+i%3, i))
	}
	names = append(names, "other-slow-20250101T000000Z-1-00000000.scope", record.ProgramName()+"-20250101T000000Z-1-0.scope")
	for _, n := range names {
		filetest.Write(t, filepath.Join(dir, n), nil)
	}
	record.Thin(dir)
	list, err := os.ReadDir(dir)
	if err != nil || len(list) != record.TriggerFiles+2 {
		t.Fatalf("%d are left, want %d: %v", len(list), record.TriggerFiles+2, err)
	}
	for _, e := range list {
		if strings.Contains(e.Name(), "20260101T00") || strings.Contains(e.Name(), "20260101T03") {
			t.Errorf("%s is left, one of the oldest", e.Name())
		}
	}
}

// TestRingOfTheLargestSize: the chunks of a large ring are prepared in lots of up to 8
// MiB, and none is missing.
func TestRingOfTheLargestSize(t *testing.T) {
	perBacking(t, func(t *testing.T, backing Option) {
		start(t, backing, WithRing(64<<30))
		for range 10_000 {
			Task("step")()
		}
		finish(t)
		if s := Stats(); s.Recorded < 10_000 || s.Lost.Total() != 0 {
			t.Errorf("%d are recorded, lost: %+v", s.Recorded, s.Lost)
		}
	})
}

// TestRingRowOfASilentGoroutine: a goroutine that has nothing but an open scope for
// many rounds of the ring keeps its row's name, and so does one that recorded nothing
// at all, when it then begins a scope.
func TestRingRowOfASilentGoroutine(t *testing.T) {
	start(t, WithRing(4<<20), WithFlushEvery(10*time.Millisecond), WithHeartbeat(10*time.Millisecond))
	Track("main")
	Begin("long")
	named, again, done := make(chan bool), make(chan bool), make(chan bool)
	go func() {
		Track("silent")
		named <- true
		<-again
		Begin("late")
		done <- true
	}()
	<-named
	for range 8 { // on every P, so that the chunks with the names leave
		go func() {
			for Stats().Overwritten < int64(fewer(1_000_000)) {
				for range 100 {
					Task("fill")()
				}
				time.Sleep(500 * time.Microsecond)
			}
			done <- true
		}()
	}
	for range 8 {
		<-done
	}
	again <- true
	<-done
	finish(t)
	rows := map[string]string{}
	each(t, Path(), func(tr *trace.Trace, e *trace.Event) {
		rows[tr.Name(e.Name)] = tr.Name(e.Track)
	})
	if rows["long"] != "main" || rows["late"] != "silent" {
		t.Errorf("the rows are %q, of the long scope and of the late one", []string{rows["long"], rows["late"]})
	}
}
