//go:build linux && !scope_off && !scope_pure && !race

package record_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/hot"
	"github.com/scopeview/scopeview/internal/testing/faultfs"
	"github.com/scopeview/scopeview/internal/trace"
	. "github.com/scopeview/scopeview/scope"
)

// TestG15Kill kills writers at random moments, in both modes and on every backing that
// survives a kill. Every scope whose end had returned is in the trace, ended; no scope is
// there that was not begun; one per worker may be open. For the heap it reports what is
// missing.
func TestG15Kill(t *testing.T) {
	isVictim(t)
	n := 10
	switch {
	case faultfs.Full():
		n = 1000
	case testing.Short():
		n = 5
	}
	var lines []string
	for _, b := range killProof {
		for _, mode := range []string{"plain", "ring"} {
			t.Run(mode+"/"+b.name, func(t *testing.T) {
				sum := killMany(t, n, fmt.Sprintf("%s backing=%d", mode, b.kind))
				if sum.behind != 0 {
					t.Errorf("%d scopes are missing", sum.behind)
				}
				lines = append(lines, fmt.Sprintf("%s, %s: %v", mode, b.name, sum))
			})
		}
	}
	t.Run("heap", func(t *testing.T) {
		sum := killMany(t, max(n/10, 3), fmt.Sprintf("plain backing=%d", HeapBacking))
		if sum.behind == 0 {
			t.Error("nothing was missing; is that the heap?")
		}
		lines = append(lines, fmt.Sprintf("plain, heap, which promises nothing: %v", sum))
	})
	t.Logf("G15: kill -9: %s", strings.Join(lines, "; "))
}

// killProof are the backings with which a killed program's trace is complete.
var killProof = []struct {
	name string
	kind BackingKind
}{
	{"disk", DiskBacking},
	{"shm", ShmBacking},
}

// killMany kills n victims, some at a time, and checks their traces.
func killMany(t *testing.T, n int, ways string) *tally {
	t.Helper()
	faultfs.Children(t)
	var sum tally
	var mu sync.Mutex
	var wg sync.WaitGroup
	next := make(chan int)
	for range min(n, 4) {
		wg.Go(func() {
			for i := range next {
				one, err := killOnce(t, ways)
				mu.Lock()
				if err != nil {
					t.Errorf("victim %d: %v", i, err)
				} else {
					sum.add(one)
				}
				mu.Unlock()
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
	return &sum
}

// killOnce kills a victim at any moment: nearly always while it records, but
// some may not have begun to.
func killOnce(t *testing.T, ways string) (*tally, error) {
	// From a pace that any disk can follow to one that none can.
	pace := []int{32, 256, 1024, 0}[rand.IntN(4)]
	v, err := newVictim(os.Args[0], fmt.Sprintf("%s pace=%d", ways, pace))
	if err != nil {
		return nil, err
	}
	defer v.close(t)
	word := "running"
	if rand.IntN(16) == 0 {
		word = "started"
	}
	if err := v.says(word); err != nil {
		return nil, err
	}
	// Not waiting for anything: the moment is random.
	time.Sleep(time.Duration(rand.IntN(80_000)) * time.Microsecond)
	if err := v.cmd.Process.Kill(); err != nil {
		return nil, err
	}
	_ = v.cmd.Wait()
	return v.check(strings.Contains(ways, fmt.Sprintf("backing=%d", HeapBacking)))
}

// victimRun is a victim, as seen by its parent.
type victimRun struct {
	*truth
	cmd   *exec.Cmd
	dir   string
	path  string
	in    io.Writer // its standard input
	out   *bufio.Reader
	err   strings.Builder
	unmap func()
	wrong bool
}

// newVictim starts a victim. The binary is this one, or one built from it with
// other tags.
func newVictim(binary, ways string, env ...string) (*victimRun, error) {
	dir, err := os.MkdirTemp("", "scopeview-victim")
	if err != nil {
		return nil, err
	}
	v := &victimRun{dir: dir, path: filepath.Join(dir, "victim.scope")}
	fail := func(err error) (*victimRun, error) {
		if v.unmap != nil {
			v.unmap()
		}
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	f, err := os.Create(filepath.Join(dir, "truth"))
	if err != nil {
		return fail(err)
	}
	defer f.Close()
	if err := f.Truncate(1 << 20); err != nil {
		return fail(err)
	}
	if v.truth, v.unmap, err = mapTruth(f); err != nil {
		return fail(err)
	}
	v.cmd = exec.Command(binary, "-test.run=^TestG15Kill$")
	v.cmd.Env = append(os.Environ(), victimTrace+"="+v.path, victimTruth+"="+f.Name(), victimWays+"="+ways)
	v.cmd.Env = append(v.cmd.Env, env...)
	v.cmd.Stderr = &v.err
	out, err := v.cmd.StdoutPipe()
	if err != nil {
		return fail(err)
	}
	v.out = bufio.NewReader(out)
	if v.in, err = v.cmd.StdinPipe(); err != nil {
		return fail(err)
	}
	if err := v.cmd.Start(); err != nil {
		return fail(err)
	}
	return v, nil
}

// says waits until the victim has printed a word.
func (v *victimRun) says(word string) error {
	for {
		line, err := v.out.ReadString('\n')
		if err != nil {
			rest, _ := io.ReadAll(v.out)
			_ = v.cmd.Process.Kill()
			_ = v.cmd.Wait()
			return fmt.Errorf("the victim does not say %q but %q%s: %w: %s", word, line, rest, err, v.err.String())
		}
		if strings.TrimSpace(line) == word {
			return nil
		}
	}
}

func (v *victimRun) check(mayLack bool) (*tally, error) {
	sum, err := v.truth.check(v.path, mayLack)
	v.wrong = err != nil
	return sum, err
}

// close releases the victim; its trace is kept if it was found wrong.
func (v *victimRun) close(t *testing.T) {
	v.unmap()
	if v.wrong {
		t.Logf("the trace is kept: %s", v.path)
		return
	}
	if tr, err := trace.OpenFile(v.path); err == nil {
		hot.Discard(tr.Header().ID, format.FileID{})
		tr.Close()
	}
	if err := os.RemoveAll(v.dir); err != nil {
		t.Error(err)
	}
}

// TestSegmentsKill kills writers while segments are created and deleted: the trace,
// its segments and what was in memory fit together, and nothing is missing except
// what was overwritten.
func TestSegmentsKill(t *testing.T) {
	n := 4
	if os.Getenv("SCOPEVIEW_FAULT") == "full" {
		n = 100
	}
	for name, b := range map[string]BackingKind{"disk": DiskBacking, "shm": ShmBacking} {
		t.Run(name, func(t *testing.T) {
			sum := killMany(t, n, fmt.Sprintf("segments backing=%d", b))
			if sum.behind != 0 {
				t.Errorf("%d scopes are missing", sum.behind)
			}
			t.Log(sum)
		})
	}
}
