package samples

import (
	"bytes"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
)

// stackProfile makes a profile of one sample type from stacks, the leaf first, and their
// values.
func stackProfile(values map[string]int64) *profile.Profile {
	q := &profile.Profile{SampleType: []*profile.ValueType{{Type: "space", Unit: "bytes"}}}
	locations := map[string]*profile.Location{}
	for stack, v := range values {
		s := &profile.Sample{Value: []int64{v}}
		for _, name := range strings.Fields(stack) {
			l := locations[name]
			if l == nil {
				f := &profile.Function{ID: uint64(len(q.Function) + 1), Name: name, SystemName: name}
				l = &profile.Location{ID: f.ID, Line: []profile.Line{{Function: f}}}
				locations[name] = l
				q.Function, q.Location = append(q.Function, f), append(q.Location, l)
			}
			s.Location = append(s.Location, l)
		}
		q.Sample = append(q.Sample, s)
	}
	return q
}

func ofPprof(t *testing.T, q *profile.Profile) (*Profile, error) {
	t.Helper()
	var b bytes.Buffer
	if err := q.Write(&b); err != nil {
		t.Fatal(err)
	}
	return OfPprof(context.Background(), &b, anything())
}

// TestPprofNegative: if values are negative, shares refer to the absolute sum; in a profile
// that pprof -diff_base wrote, to the base.
func TestPprofNegative(t *testing.T) {
	for _, c := range []struct {
		name  string
		of    map[string]int64
		base  string // stack that was subtracted
		whole int64
		named string
	}{
		{"a delta of heap profiles", map[string]int64{"more main": 700, "less main": -300}, "", 1000, "the absolute sum"},
		{"a difference from a base", map[string]int64{"new main": 700, "old main": -400}, "old main", 400, "the base profile's sum"},
		{"no difference", map[string]int64{"f main": 700, "g main": 300}, "", 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := stackProfile(c.of)
			for _, s := range q.Sample {
				if c.base != "" && s.Value[0] == c.of[c.base] {
					s.Label = map[string][]string{"pprof::base": {"true"}}
				}
			}
			p, err := ofPprof(t, q)
			if err != nil {
				t.Fatal(err)
			}
			if m := &p.Metrics[0]; m.Whole != c.whole || m.WholeOf != c.named {
				t.Errorf("shares are of %s, %d, want %s, %d", m.WholeOf, m.Whole, c.named, c.whole)
			}
		})
	}
}

// TestPprofOverflow: values whose sum exceeds 63 bits are rejected, of either sign.
func TestPprofOverflow(t *testing.T) {
	const most = math.MaxInt64
	for _, c := range []struct {
		of      map[string]int64
		refused bool
	}{
		{map[string]int64{"f main": most, "g main": 1}, true},
		{map[string]int64{"f main": most, "g main": -1}, true},
		{map[string]int64{"f main": math.MinInt64}, true},
		{map[string]int64{"f main": most - 1, "g main": 1}, false},
	} {
		if _, err := ofPprof(t, stackProfile(c.of)); errors.Is(err, ErrOverflow) != c.refused {
			t.Errorf("%v: %v", c.of, err)
		}
	}
}

// TestPprofDropFrames: frames that the profile declares uninteresting are removed as pprof
// removes them, and a note says so; an invalid expression removes nothing.
func TestPprofDropFrames(t *testing.T) {
	of := map[string]int64{"inner alloc user main": 1, "kept_alloc user main": 2, "other main": 4}
	for _, c := range []struct {
		drop, keep string
		want       []string
		note       string
	}{
		{"", "", []string{"inner:0 alloc:0 user:0 main:0 space=1", "kept_alloc:0 user:0 main:0 space=2", "other:0 main:0 space=4"}, ""},
		{".*alloc", "", []string{"other:0 main:0 space=4", "user:0 main:0 space=3"}, "drop_frames"},
		{".*alloc", "kept_.*", []string{"kept_alloc:0 user:0 main:0 space=2", "other:0 main:0 space=4", "user:0 main:0 space=1"}, "keep_frames"},
		{"(", "", []string{"inner:0 alloc:0 user:0 main:0 space=1", "kept_alloc:0 user:0 main:0 space=2", "other:0 main:0 space=4"}, "nothing is left out"},
	} {
		q := stackProfile(of)
		q.DropFrames, q.KeepFrames = c.drop, c.keep
		p, err := ofPprof(t, q)
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Split(strings.TrimSpace(text(p)), "\n")
		slices.Sort(got)
		if !slices.Equal(got, c.want) {
			t.Errorf("drop %q, keep %q: %q, want %q", c.drop, c.keep, got, c.want)
		}
		if notes := strings.Join(p.Notes, "\n"); !strings.Contains(notes, c.note) || c.note == "" && notes != "" {
			t.Errorf("drop %q, keep %q: notes %q, want %q", c.drop, c.keep, notes, c.note)
		}
	}
}

// TestCutPprof cuts a profile at every length, gzipped and not. Each is an error, or has all
// data of the whole one: after the table of strings, which everything before needs, there
// are only numbers about the profile, and a prefix that ends between two of these is a whole
// message of protocol buffers.
func TestCutPprof(t *testing.T) {
	q := stackProfile(map[string]int64{"leaf mid main": 5, "other main": 7})
	q.TimeNanos, q.DurationNanos, q.Comments = 1, 2, []string{"a comment"}
	var plain, zipped bytes.Buffer
	if err := q.WriteUncompressed(&plain); err != nil {
		t.Fatal(err)
	}
	if err := q.Write(&zipped); err != nil {
		t.Fatal(err)
	}
	for name, whole := range map[string][]byte{"plain": plain.Bytes(), "gzip": zipped.Bytes()} {
		want, err := OfPprof(context.Background(), bytes.NewReader(whole), anything())
		if err != nil {
			t.Fatal(err)
		}
		taken := 0
		for n := range whole {
			p, err := OfPprof(context.Background(), bytes.NewReader(whole[:n]), anything())
			if err != nil {
				continue
			}
			taken++
			if text(p) != text(want) {
				t.Errorf("%s, %d of %d bytes: %q, want %q", name, n, len(whole), text(p), text(want))
			}
		}
		if name == "gzip" && taken > 0 || taken > 8 {
			t.Errorf("%s: %d prefixes are taken for whole files", name, taken)
		}
	}
}
