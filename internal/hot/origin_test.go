//go:build linux

package hot

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/format"
)

// TestG44Adopt: a hot file is adopted by any process that finds its trace, by device, inode and
// birth. Without its trace it is removed only by processes that see its writer's directory. Others
// leave it for a day.
func TestG44Adopt(t *testing.T) {
	replaced := func(t *testing.T, w *writer) { // by a copy, which has the ID
		b, err := os.ReadFile(w.trace.Name())
		if err := errors.Join(err, os.WriteFile(w.trace.Name()+"x", b, 0o600), os.Rename(w.trace.Name()+"x", w.trace.Name())); err != nil {
			t.Fatal(err)
		}
	}
	removed := func(t *testing.T, w *writer) {
		if err := os.Remove(w.trace.Name()); err != nil {
			t.Fatal(err)
		}
	}
	long := func(ago time.Duration) func(t *testing.T, w *writer) { // with its directory, that long ago
		return func(t *testing.T, w *writer) {
			if err := os.RemoveAll(filepath.Dir(w.trace.Name())); err != nil {
				t.Fatal(err)
			}
			w.seen(t, ago)
		}
	}
	adopted, gone, left := Adopted{Traces: 1, Chunks: 2, Removed: 1}, Adopted{Removed: 1}, Adopted{Left: 1}
	for name, c := range map[string]struct {
		origin func(*format.HotOrigin)
		then   func(t *testing.T, w *writer)
		want   Adopted
		state  State // for a reader, if it is left
		disk   bool  // only if the kernel numbers its disk
	}{
		"as it was":                                       {want: adopted},
		"in another namespace, on the same disk":          {origin: func(o *format.HotOrigin) { o[2]++ }, want: adopted},
		"in another namespace, on the same disk, removed": {origin: func(o *format.HotOrigin) { o[2]++ }, then: removed, want: gone},
		"removed":                       {then: removed, want: gone},
		"on another device":             {origin: func(o *format.HotOrigin) { o[9]++ }, want: left, state: Joined},
		"of another birth":              {origin: func(o *format.HotOrigin) { o[11]++ }, want: left, state: Joined},
		"a copy":                        {then: replaced, want: left, state: Joined},
		"a copy in another namespace":   {origin: func(o *format.HotOrigin) { o[2]++ }, then: replaced, want: left, state: Missing},
		"a copy in another boot":        {origin: func(o *format.HotOrigin) { o[0]++ }, then: replaced, want: left, state: Missing},
		"a copy below another root":     {origin: func(o *format.HotOrigin) { o[5]++ }, then: replaced, want: left, state: Missing},
		"another disk at its path":      {origin: func(o *format.HotOrigin) { o[6]++; o[2]++ }, then: removed, want: left},
		"another directory at its path": {origin: func(o *format.HotOrigin) { o[7]++; o[2]++ }, then: removed, want: left},
		"another boot":                  {origin: func(o *format.HotOrigin) { o[0]++ }, then: removed, want: left},
		"a namespace, and a disk that does not say its birth": {origin: func(o *format.HotOrigin) { o[8] = 0; o[2]++ }, then: removed, want: left},
		"nothing known, as of older versions":                 {origin: func(o *format.HotOrigin) { *o = format.HotOrigin{} }, want: adopted},
		"nothing known, and removed":                          {origin: func(o *format.HotOrigin) { *o = format.HotOrigin{} }, then: removed, want: left},
		"another disk has its number":                         {origin: func(o *format.HotOrigin) { o[13]++ }, want: left, state: Joined, disk: true},
		"another disk has its number, removed":                {origin: func(o *format.HotOrigin) { o[13]++ }, then: removed, want: left},
		"another disk has its number, directory removed":      {origin: func(o *format.HotOrigin) { o[13]++ }, then: long(2 * elsewhereFor), want: left},
		"another disk has its number in another namespace":    {origin: func(o *format.HotOrigin) { o[2]++; o[13]++ }, want: left, state: Joined, disk: true},
		"another disk has its number in another boot":         {origin: func(o *format.HotOrigin) { o[0]++; o[13]++ }, want: adopted},
		"its disk not known, as of older versions":            {origin: func(o *format.HotOrigin) { o[13] = 0 }, want: adopted},
		"its disk not known, and removed":                     {origin: func(o *format.HotOrigin) { o[13] = 0 }, then: removed, want: left, disk: true},
		"not found for a day": {origin: func(o *format.HotOrigin) { o[6]++ }, then: func(t *testing.T, w *writer) {
			removed(t, w)
			w.seen(t, unknownFor+time.Minute)
		}, want: gone},
		"not found for an hour": {origin: func(o *format.HotOrigin) { o[6]++ }, then: func(t *testing.T, w *writer) {
			removed(t, w)
			w.seen(t, time.Hour)
		}, want: left},
		"not found for a day to come": {origin: func(o *format.HotOrigin) { o[6]++ }, then: func(t *testing.T, w *writer) {
			removed(t, w)
			w.seen(t, -time.Hour)
		}, want: left},
	} {
		t.Run(name, func(t *testing.T) {
			inDir(t)
			w := newWriter(t, 6, nil)
			if o := Origin(w.trace, w.trace.Name()); c.origin != nil {
				if c.disk && o[13] == 0 {
					t.Skip("the kernel has no number for the disk of ", w.trace.Name())
				}
				c.origin(&o)
				w.write(w.hot, o.Append(nil), format.HotOriginOffset)
			}
			w.fill()
			if c.then != nil {
				c.then(t, w)
			}
			for range 2 { // the first time does not affect the second
				adopt(t, c.want)
				if c.want != left {
					break
				}
				if c.state != None {
					joined(t, w, c.state)
				}
			}
		})
	}
}

// TestG44Discard: overwriting a copy of a trace, which has its ID, does not remove the hot file of
// the trace.
func TestG44Discard(t *testing.T) {
	inDir(t)
	w := newWriter(t, 2, nil)
	id, o := Identity(w.trace), Origin(w.trace, w.trace.Name())
	w.kill()
	other := id
	other[0]++
	if Discard(w.head.ID, other); !w.hotThere() {
		t.Error("the hot file went with a copy of its trace")
	}
	if o[13] != 0 {
		clone := o
		clone[13]++
		f := w.reopen(t, w.hot.Name(), false)
		w.write(f, clone.Append(nil), format.HotOriginOffset)
		if Discard(w.head.ID, id); !w.hotThere() {
			t.Error("the hot file went with a clone of its trace, on another disk with the same device number")
		}
		w.write(f, o.Append(nil), format.HotOriginOffset)
	}
	if Discard(w.head.ID, id); w.hotThere() {
		t.Error("the hot file is there, and its trace was overwritten")
	}
}

// TestG44Disk: a disk's number is the kernel's, and that of each of its partitions; devices that
// are not disks have none.
func TestG44Disk(t *testing.T) {
	if n := diskOf(0); n != 0 {
		t.Errorf("no device is disk %d", n)
	}
	all, err := os.ReadDir("/sys/dev/block")
	if err != nil {
		t.Skip("no devices are to be seen: ", err)
	}
	for _, d := range all {
		var major, minor, want uint64
		if _, err := fmt.Sscanf(d.Name(), "%d:%d", &major, &minor); err != nil {
			t.Fatal(err)
		}
		at := filepath.Join("/sys/dev/block", d.Name())
		if _, err := os.Stat(filepath.Join(at, "partition")); err == nil {
			if at, err = filepath.EvalSymlinks(at); err != nil {
				t.Fatal(err)
			}
			at = filepath.Dir(at)
		}
		if b, err := os.ReadFile(filepath.Join(at, "diskseq")); err == nil { // of Linux 5.15
			fmt.Sscan(string(b), &want)
		}
		got := diskOf(major<<32 | minor)
		if again, err := os.ReadFile(filepath.Join(at, "diskseq")); err == nil && string(again) != fmt.Sprintln(want) {
			continue // it was changed meanwhile, or is gone
		}
		if got != want {
			t.Errorf("%s is disk %d, want %d", d.Name(), got, want)
		}
	}
}
