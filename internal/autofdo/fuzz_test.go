package autofdo

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"
)

// FuzzRead: for any input nothing panics; a profile that is read can be written, and reads
// again as the same; and it is merged and compared with itself.
func FuzzRead(f *testing.F) {
	for _, c := range accepted {
		f.Add(c.in, false)
		f.Add(c.in, true)
	}
	for _, c := range rejected {
		f.Add(c.in, true)
	}
	f.Fuzz(func(t *testing.T, in string, lenient bool) {
		p, _, err := Read(strings.NewReader(in), "FILE", lenient)
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := Write(&b, p); err != nil {
			t.Fatalf("%q is read and can't be written: %v", in, err)
		}
		again, _, err := Read(&b, "OUT", false)
		if err != nil || !reflect.DeepEqual(p, again) {
			t.Fatalf("%q: written %q, read again: %v", in, written(t, p), err)
		}
		flat, _ := p.Flat()
		for _, f := range flat.Functions {
			if len(f.Inlined) > 0 {
				t.Fatalf("%q: %s is not flat", in, f.Name)
			}
		}
		if _, err := Overlap(p, again); err != nil && !errors.Is(err, ErrNoSamples) && !errors.Is(err, ErrOverflow) {
			t.Fatal(err)
		}
		if samples, err := ToSamples(p); err == nil {
			FromSamples(samples)
		}
		if _, err := Merge(p, again, 3); err != nil {
			t.Fatal(err)
		}
	})
}
