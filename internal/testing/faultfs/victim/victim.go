//go:build linux

package victim

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/hot"
	"github.com/scopeview/scopeview/internal/testing/faultfs"
	"github.com/scopeview/scopeview/scope"
)

// Victim is a process that records.
type Victim struct {
	Config
	Result Result // when it has ended by itself
	PID    int

	l       *ledger
	cmd     *exec.Cmd
	out, er bytes.Buffer
	ended   chan struct{} // closed when it has, with err set
	err     error
}

// Start starts a victim, and returns when it records; with Hold, when it is there.
func Start(t testing.TB, c Config) *Victim {
	t.Helper()
	faultfs.Children(t)
	c.complete()
	if c.Workers > maxWorkers {
		t.Fatalf("%d workers, at most %d can be", c.Workers, maxWorkers)
	}
	text, err := json.Marshal(&c)
	if err != nil {
		t.Fatal(err)
	}
	v := &Victim{Config: c, ended: make(chan struct{})}
	if v.l, err = newLedger(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.l.close)
	v.cmd = exec.Command(os.Args[0])
	v.cmd.Env = append(append(os.Environ(), configVar+"="+string(text)), c.Env...)
	v.cmd.ExtraFiles = []*os.File{v.l.file}
	v.cmd.Stdout, v.cmd.Stderr = &v.out, &v.er
	if err := v.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	v.PID = v.cmd.Process.Pid
	go func() {
		defer close(v.ended)
		v.err = v.cmd.Wait()
	}()
	t.Cleanup(func() {
		v.kill()
		if h := v.Hot(); h != "" {
			os.Remove(h) // what one that was killed leaves
		}
	})
	if !c.Hold {
		v.ready(t)
	}
	return v
}

// Release lets a victim record that was held, and returns when it does.
func (v *Victim) Release(t testing.TB) {
	t.Helper()
	v.l.store(wordGo, 1)
	v.ready(t)
}

func (v *Victim) ready(t testing.TB) {
	t.Helper()
	v.Until(t, "the victim to record", func() bool { return v.l.load(wordReady) != 0 })
}

// Until polls until ok, for as long as a loaded machine may take. A victim that ends
// meanwhile fails the test.
func (v *Victim) Until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(v.Patience); !ok(); time.Sleep(time.Millisecond) {
		if v.Gone() {
			if ok() {
				return
			}
			t.Fatalf("waiting for %s: the victim ended (%v): %s", what, v.err, v.says())
		}
		if time.Now().After(deadline) {
			v.stacks()
			t.Fatalf("waiting for %s: not within %v\n%s", what, v.Patience, v.says())
		}
	}
}

// Gone reports whether the victim has ended.
func (v *Victim) Gone() bool {
	select {
	case <-v.ended:
		return true
	default:
		return false
	}
}

// Finish tells the workers to end, and returns when the victim has. It must have
// ended well.
func (v *Victim) Finish(t testing.TB) *Result {
	t.Helper()
	v.l.store(wordStop, 1)
	return v.Wait(t)
}

// Wait returns when the victim has ended by itself. It must have ended well.
func (v *Victim) Wait(t testing.TB) *Result {
	t.Helper()
	select {
	case <-v.ended:
	case <-time.After(v.Patience):
		v.stacks()
		t.Fatalf("the victim did not end within %v\n%s", v.Patience, v.says())
	}
	if v.err != nil {
		t.Fatalf("the victim failed (%v): %s", v.err, v.says())
	}
	if err := json.Unmarshal(v.out.Bytes(), &v.Result); err != nil {
		t.Fatalf("the victim's result: %v: %s", err, v.out.Bytes())
	}
	return &v.Result
}

// Kill kills the victim with SIGKILL, and returns when it is gone. It fails if the
// victim had ended before.
func (v *Victim) Kill(t testing.TB) {
	t.Helper()
	if v.Gone() {
		t.Fatalf("the victim ended before it was killed (%v): %s", v.err, v.says())
	}
	v.kill()
}

// Died returns when the victim has ended in any way, and how: nil if well, and what
// it said.
func (v *Victim) Died(t testing.TB) (err error, says string) {
	t.Helper()
	select {
	case <-v.ended:
	case <-time.After(v.Patience):
		v.stacks()
		t.Fatalf("the victim did not end within %v\n%s", v.Patience, v.says())
	}
	return v.err, v.says()
}

func (v *Victim) kill() {
	_ = v.cmd.Process.Kill() // it may have ended
	<-v.ended
}

// Hot is the file in memory where the newest records of the victim's trace are; empty
// if there is none.
func (v *Victim) Hot() string {
	f, err := os.Open(v.Path)
	if err != nil {
		return ""
	}
	defer f.Close()
	b := make([]byte, format.StateOffset+format.StateSize)
	n, _ := f.ReadAt(b, 0)
	if h, _, err := format.DecodeHeader(b[:n]); err == nil && h.Backing == format.BackingShm {
		return filepath.Join(hot.Dir, format.HotName(h.ID))
	}
	return ""
}

// stacks has the victim say where its goroutines are, and end.
func (v *Victim) stacks() {
	_ = v.cmd.Process.Signal(unix.SIGQUIT)
	select {
	case <-v.ended:
	case <-time.After(5 * time.Second):
		v.kill()
	}
}

// says is what it said last: of a crash the beginning, which says why.
func (v *Victim) says() string {
	if !v.Gone() {
		return "" // still being written
	}
	s := strings.TrimSpace(v.er.String())
	return s[:min(len(s), 4000)]
}

func (v *Victim) sum(word int) (n uint64) {
	for w := range v.Workers {
		n += v.l.load(of(w, word))
	}
	return n
}

// Begun is how many scopes the workers have begun; Ended how many ends have returned.
func (v *Victim) Begun() uint64 { return v.sum(workBegun) }

// Ended is documented at Begun.
func (v *Victim) Ended() uint64 { return v.sum(workEnded) }

// BegunBy, KeptBy and KeptEndedBy are a worker's: scopes begun, begun and taken by the
// recorder, and those of them that have ended.
func (v *Victim) BegunBy(w int) uint64 { return v.l.load(of(w, workBegun)) }

// KeptBy is documented at BegunBy.
func (v *Victim) KeptBy(w int) uint64 { return v.l.load(of(w, workKept)) }

// KeptEndedBy is documented at BegunBy.
func (v *Victim) KeptEndedBy(w int) uint64 { return v.l.load(of(w, workKeptEnded)) }

// LastBy is the number of the worker's last scope that the recorder took and whose
// end has returned, and 1; 0 if there is none.
func (v *Victim) LastBy(w int) uint64 { return v.l.load(of(w, workLast)) }

// User reads one of the 32 words that are the work's own.
func (v *Victim) User(i int) uint64 { return v.l.load(wordUser + i) }

// Recorded is how many records the recorder had a moment ago: some milliseconds.
func (v *Victim) Recorded() int64 { return int64(v.l.load(wordRecorded)) }

// Lost is Recorded's of what was lost.
func (v *Victim) Lost() (l scope.Lost) {
	for i, n := range reasons(&l) {
		*n = int64(v.l.load(wordLost + i))
	}
	return l
}

// Polled returns when the numbers of Recorded and Lost are newer than the call.
func (v *Victim) Polled(t testing.TB) {
	t.Helper()
	was := v.l.load(wordPolls)
	v.Until(t, "the victim to count", func() bool { return v.l.load(wordPolls) > was+1 || v.l.load(wordDone) != 0 })
}

// Calls are the times that begin and end took together, and those of nothing.
func (v *Victim) Calls() (scopes, nothing Histogram) {
	for w := range v.Workers {
		for b := range buckets {
			scopes[b] += v.l.load(of(w, workHistogram+b))
			nothing[b] += v.l.load(of(w, workFloor+b))
		}
	}
	return scopes, nothing
}

// Worst is the longest call since the last Forget, and Pause the longest pause of the
// garbage collector, of so many collections in all.
func (v *Victim) Worst() (d time.Duration) {
	for w := range v.Workers {
		d = max(d, time.Duration(v.l.load(of(w, workWorst))))
	}
	return d
}

// Pause is documented at Worst.
func (v *Victim) Pause() (longest time.Duration, collections uint64) {
	return time.Duration(v.l.load(wordPause)), v.l.load(wordCollect)
}

// Collection is the longest run of the garbage collector since the last Forget. One
// that waits for a goroutine to be stopped lasts, and pauses nobody else meanwhile.
func (v *Victim) Collection() time.Duration { return time.Duration(v.l.load(wordCollection)) }

// Stall is the longest since the last Forget that the program, with Collect, had no
// turn for a goroutine that wants one every millisecond.
func (v *Victim) Stall() time.Duration { return time.Duration(v.l.load(wordStall)) }

// Forget begins Worst, Pause, Collection and Stall anew.
func (v *Victim) Forget() {
	v.l.store(wordCollection, 0)
	v.l.store(wordPause, 0)
	v.l.store(wordStall, 0)
	for w := range v.Workers {
		v.l.store(of(w, workWorst), 0)
	}
}
