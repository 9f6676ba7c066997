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
	Result Result // valid after the victim has ended by itself
	PID    int

	l       *ledger
	cmd     *exec.Cmd
	out, er bytes.Buffer
	ended   chan struct{} // closed after the end, with err set
	err     error
}

// Start starts a victim, and returns when it records; with Hold, when it runs.
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
			os.Remove(h) // left by a killed one
		}
	})
	if !c.Hold {
		v.ready(t)
	}
	return v
}

// Release starts the recording of a held victim, and returns when it records.
func (v *Victim) Release(t testing.TB) {
	t.Helper()
	v.l.store(wordGo, 1)
	v.ready(t)
}

func (v *Victim) ready(t testing.TB) {
	t.Helper()
	v.Until(t, "the victim to record", func() bool { return v.l.load(wordReady) != 0 })
}

// Until polls until ok returns true, for as long as a loaded machine may take. The test
// fails if the victim ends meanwhile.
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

// Finish stops the workers, and waits for the victim's end, which must be normal.
func (v *Victim) Finish(t testing.TB) *Result {
	t.Helper()
	v.l.store(wordStop, 1)
	return v.Wait(t)
}

// Wait waits for the victim's end, which must be normal.
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

// Kill kills the victim with SIGKILL, and waits for its end. The test fails if the victim
// had ended before.
func (v *Victim) Kill(t testing.TB) {
	t.Helper()
	if v.Gone() {
		t.Fatalf("the victim ended before it was killed (%v): %s", v.err, v.says())
	}
	v.kill()
}

// Died waits for any end of the victim, and returns its error, nil if normal, and its
// output.
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

// Hot returns the file in memory with the newest records of the victim's trace; "": none.
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

// stacks makes the victim print its goroutines and end.
func (v *Victim) stacks() {
	_ = v.cmd.Process.Signal(unix.SIGQUIT)
	select {
	case <-v.ended:
	case <-time.After(5 * time.Second):
		v.kill()
	}
}

// says returns the victim's error output: the begin, which has the reason of a crash.
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

// Begun returns the number of scopes that the workers have begun; Ended the number of
// returned ends.
func (v *Victim) Begun() uint64 { return v.sum(workBegun) }

// Ended is documented at Begun.
func (v *Victim) Ended() uint64 { return v.sum(workEnded) }

// BegunBy, KeptBy and KeptEndedBy return the counts of a worker: scopes begun, of these
// accepted by the recorder, and of these ended.
func (v *Victim) BegunBy(w int) uint64 { return v.l.load(of(w, workBegun)) }

// KeptBy is documented at BegunBy.
func (v *Victim) KeptBy(w int) uint64 { return v.l.load(of(w, workKept)) }

// KeptEndedBy is documented at BegunBy.
func (v *Victim) KeptEndedBy(w int) uint64 { return v.l.load(of(w, workKeptEnded)) }

// LastBy returns the number of the worker's last accepted and ended scope, plus 1; 0: none.
func (v *Victim) LastBy(w int) uint64 { return v.l.load(of(w, workLast)) }

// User returns one of the 32 words of the work.
func (v *Victim) User(i int) uint64 { return v.l.load(wordUser + i) }

// Recorded returns the recorder's number of records, some milliseconds old.
func (v *Victim) Recorded() int64 { return int64(v.l.load(wordRecorded)) }

// Lost returns the recorder's losses, as old as Recorded.
func (v *Victim) Lost() (l scope.Lost) {
	for i, n := range reasons(&l) {
		*n = int64(v.l.load(wordLost + i))
	}
	return l
}

// Polled waits until the numbers of Recorded and Lost are newer than the call.
func (v *Victim) Polled(t testing.TB) {
	t.Helper()
	was := v.l.load(wordPolls)
	v.Until(t, "the victim to count", func() bool { return v.l.load(wordPolls) > was+1 || v.l.load(wordDone) != 0 })
}

// Calls returns the durations of begin and end together, and of an empty measurement.
func (v *Victim) Calls() (scopes, nothing Histogram) {
	for w := range v.Workers {
		for b := range buckets {
			scopes[b] += v.l.load(of(w, workHistogram+b))
			nothing[b] += v.l.load(of(w, workFloor+b))
		}
	}
	return scopes, nothing
}

// Worst returns the longest call since the last Forget, and Pause the longest pause of the
// garbage collector with the number of collections.
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

// Collection returns the longest run of the garbage collector since the last Forget. A
// collection that waits for a goroutine to stop takes long without pausing others.
func (v *Victim) Collection() time.Duration { return time.Duration(v.l.load(wordCollection)) }

// Stall returns the longest time since the last Forget in which a goroutine that sleeps for
// 1 ms did not run; it needs Collect.
func (v *Victim) Stall() time.Duration { return time.Duration(v.l.load(wordStall)) }

// Forget resets Worst, Pause, Collection and Stall.
func (v *Victim) Forget() {
	v.l.store(wordCollection, 0)
	v.l.store(wordPause, 0)
	v.l.store(wordStall, 0)
	for w := range v.Workers {
		v.l.store(of(w, workWorst), 0)
	}
}
