package pgo

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/google/pprof/profile"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/scopeview/scopeview/internal/samples"
)

// ErrNotPprof reports that a file is not a profile in pprof's format.
var ErrNotPprof = errors.New("this is not a profile in pprof's format")

// ErrNoTime reports that a profile has no sample type that the compiler accepts.
var ErrNoTime = errors.New("it has neither samples/count nor cpu/nanoseconds: give a CPU profile")

// sizeMost bounds a profile, in bytes without gzip: it is read as a whole.
const sizeMost = 1 << 30

// Read reads a profile in pprof's format, gzipped or not. Like the compiler, it reads the first
// sample type that is samples/count or cpu/nanoseconds; the error wraps ErrNoTime if there is none,
// and ErrNotPprof if the file has another format. An empty file is an empty profile. The error
// wraps samples.ErrExecutables if the profile is of several executables.
func Read(r io.Reader) (*Profile, error) { return ReadExecutable(r, "") }

// ReadExecutable is like Read, for one of several executables, given by its path or the end of it.
func ReadExecutable(r io.Reader, executable string) (*Profile, error) {
	data, err := content(r)
	if err != nil {
		return nil, err
	}
	if len(data) == 0 {
		return New(Samples), nil
	}
	q, err := profile.ParseUncompressed(data)
	if err != nil {
		return nil, whyNot(data, err)
	}
	return ofPprof(q, executable)
}

// content returns the content of a file, without gzip.
func content(r io.Reader) ([]byte, error) {
	b := bufio.NewReader(r)
	r = b
	head, err := b.Peek(2)
	if err == nil && head[0] == 0x1f && head[1] == 0x8b {
		if r, err = gzip.NewReader(b); err != nil {
			return nil, fmt.Errorf("%w: its gzip header is damaged: %w", ErrNotPprof, err)
		}
	}
	var data bytes.Buffer
	if _, err := data.ReadFrom(io.LimitReader(r, sizeMost+1)); err != nil {
		return nil, fmt.Errorf("byte %d of the decompressed profile: %w", data.Len(), damaged(err))
	}
	if data.Len() > sizeMost {
		return nil, fmt.Errorf("it has more than %d bytes (decompressed)", sizeMost)
	}
	return data.Bytes(), nil
}

func damaged(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("it is truncated: %w", err)
	}
	return err
}

// whyNot explains why data, whose parsing failed with err, is not a profile: package profile does
// not distinguish one that was cut off from another file.
func whyNot(data []byte, err error) error {
	at := 0
	for at < len(data) {
		number, typ, n := protowire.ConsumeTag(data[at:])
		if n < 0 || typ != protowire.VarintType && typ != protowire.BytesType { // a profile has no others
			return fmt.Errorf("%w: byte %d: %w", ErrNotPprof, at, err)
		}
		m := protowire.ConsumeFieldValue(number, typ, data[at+n:])
		if m < 0 && at == 0 {
			size, _ := protowire.ConsumeVarint(data[n:])
			return fmt.Errorf("%w: its first field has %d bytes, and the file %d", ErrNotPprof, size, len(data))
		}
		if m < 0 {
			return fmt.Errorf("byte %d of the decompressed profile: %w", at, damaged(protowire.ParseError(m)))
		}
		at += n + m
	}
	return fmt.Errorf("%w, or it is damaged: %w", ErrNotPprof, err)
}

// unitOf returns the index and the unit of the sample type to read.
func unitOf(q *profile.Profile) (int, Unit, error) {
	var all []string
	for i, t := range q.SampleType {
		u := named(t)
		if u == Samples || u == Nanoseconds {
			return i, u, nil
		}
		all = append(all, string(u))
	}
	if len(q.Sample) == 0 {
		return 0, Samples, nil // there are no samples of any type
	}
	return 0, "", fmt.Errorf("%w; it has %s", ErrNoTime, strings.Join(all, ", "))
}

// named returns a type with its unit.
func named(t *profile.ValueType) Unit { return Unit(t.Type + "/" + t.Unit) }

// ofPprof reads the two innermost locations of each sample.
func ofPprof(q *profile.Profile, executable string) (*Profile, error) {
	value, unit, err := unitOf(q)
	if err != nil {
		return nil, err
	}
	for i, x := range q.Sample {
		if len(x.Value) != len(q.SampleType) {
			return nil, fmt.Errorf("sample %d has %d values, and there are %d sample types", i+1, len(x.Value), len(q.SampleType))
		}
		for _, v := range x.Value {
			if v < 0 {
				return nil, fmt.Errorf("sample %d has the negative value %d: this is the difference of two profiles, or damaged", i+1, v)
			}
		}
	}
	if err := q.CheckValid(); err != nil {
		return nil, fmt.Errorf("the profile is damaged: %w", err)
	}
	p := New(unit)
	p.Duration, p.Comments = time.Duration(max(q.DurationNanos, 0)), q.Comments
	if q.PeriodType != nil && named(q.PeriodType) == Nanoseconds && unit == Samples {
		p.Period = time.Duration(max(q.Period, 0))
	}
	wanted, err := choose(q, executable)
	if err != nil {
		return nil, err
	}
	locations := map[*profile.Location]int32{nil: None}
	for _, x := range q.Sample {
		var leaf, caller *profile.Location
		switch at := x.Location; {
		case len(at) > 1:
			leaf, caller = at[0], at[1]
		case len(at) == 1:
			leaf = at[0]
		}
		w := x.Value[value]
		if w == 0 || leaf == nil || !wanted(leaf, caller) {
			continue
		}
		pair := Pair{p.located(locations, leaf), p.located(locations, caller), caller != nil && leaf.Address == caller.Address}
		if err := p.add(pair, w); err != nil {
			return nil, err
		}
	}
	_, err = p.Total()
	return p, err
}

// located returns the index of a pprof location, which it adds if it is new.
func (p *Profile) located(locations map[*profile.Location]int32, l *profile.Location) int32 {
	id, ok := locations[l]
	if ok {
		return id
	}
	location := Location(samples.LocationFrames(l))
	for i, line := range l.Line {
		if system := line.Function.SystemName; system != "" && strings.HasPrefix(line.Function.Name, system+" (") { // scopeview added a suffix to distinguish functions of the same name
			location[i].Func = system
		}
	}
	id = p.Location(location)
	locations[l] = id
	return id
}
