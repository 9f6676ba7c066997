package pgo

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"
)

// ErrNotPprof reports that a file is not a profile in pprof's format.
var ErrNotPprof = errors.New("this is no profile in pprof's format")

// ErrNoTime reports that a profile has no sample type that the compiler accepts.
var ErrNoTime = errors.New("it has neither samples/count nor cpu/nanoseconds, of which the compiler takes one: give a CPU profile")

// Numbers of the fields of pprof's messages, from its profile.proto.
const (
	profileSampleType = 1
	profileSample     = 2
	profileMapping    = 3
	profileLocation   = 4
	profileFunction   = 5
	profileString     = 6
	profileDuration   = 10
	profilePeriodType = 11
	profilePeriod     = 12
	profileComment    = 13
	profileLast       = 15 // doc_url
)

// isBytes marks the fields of a profile that are messages or strings; the others are numbers.
// It serves to recognize other files.
var isBytes = [profileLast + 1]bool{profileSampleType: true, profileSample: true, profileMapping: true, profileLocation: true, profileFunction: true, profileString: true, profilePeriodType: true}

// Read reads a profile in pprof's format, gzipped or not, as a stream. Like the compiler it
// uses the first sample type that is samples/count or cpu/nanoseconds. An empty file is an
// empty profile. The error wraps ErrNoTime if there is no such sample type, ErrNotPprof if the
// file is something else, and samples.ErrExecutables if the profile is of several executables.
func Read(r io.Reader) (*Profile, error) { return ReadExecutable(r, "") }

// ReadExecutable is Read for one of several executables, given by its path or the end of it.
func ReadExecutable(r io.Reader, executable string) (*Profile, error) {
	b := bufio.NewReaderSize(r, 64<<10)
	head, err := b.Peek(2)
	if err == nil && head[0] == 0x1f && head[1] == 0x8b {
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, fmt.Errorf("%w: its gzip header is damaged: %w", ErrNotPprof, err)
		}
		b = bufio.NewReaderSize(z, 256<<10)
	}
	d := &decoder{stream: stream{r: b}, pairs: map[rawPair]int{}, locations: map[uint64]rawLocation{}, functions: map[uint64]rawFunction{}, mappings: map[uint64]int64{}}
	if err := d.read(); err != nil {
		if d.samples == 0 && len(d.types) == 0 && len(d.locations) == 0 && len(d.strings) == 0 {
			return nil, fmt.Errorf("%w: byte %d: %w", ErrNotPprof, d.offset, err)
		}
		return nil, fmt.Errorf("byte %d of the profile (as it is without gzip): %w", d.offset, damaged(err))
	}
	return d.profile(executable)
}

func damaged(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("it ends in the middle of something, so it was cut off: %w", err)
	}
	return err
}

// rawPair is the two innermost locations of a stack by their ids; 0 is none.
type rawPair struct{ leaf, caller uint64 }

type rawLocation struct {
	address uint64
	mapping uint64 // 0: unknown
	lines   []rawLine
}

type rawLine struct {
	function uint64
	line     int64
}

type rawFunction struct{ name, system, file, start int64 }

// decoder reads a profile. It sums up samples as they come, and names them after the whole
// file is read, because the strings come last.
type decoder struct {
	stream
	samples   int64
	types     [][2]int64 // type and unit
	width     int        // number of values of a sample
	pairs     map[rawPair]int
	order     []rawPair
	values    []int64 // width for each of order
	locations map[uint64]rawLocation
	functions map[uint64]rawFunction
	mappings  map[uint64]int64 // their files
	strings   []string
	comments  []int64
	duration  int64
	per       [2]int64 // type and unit of the period
	period    int64
}

func (d *decoder) read() error {
	for {
		number, n, data, err := d.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if number < 1 || number <= profileLast && number != profileComment && (data != nil) != isBytes[number] {
			return fmt.Errorf("a profile has no field %d, or not of this kind", number)
		}
		switch number {
		case profileSampleType:
			t, wrong := valueType(data)
			d.types, err = append(d.types, t), wrong
		case profileSample:
			err = d.sample(data)
		case profileMapping:
			err = d.mapping(data)
		case profileLocation:
			err = d.location(data)
		case profileFunction:
			err = d.function(data)
		case profileString:
			d.strings = append(d.strings, string(data))
		case profileDuration:
			d.duration = int64(n)
		case profilePeriodType:
			d.per, err = valueType(data)
		case profilePeriod:
			d.period = int64(n)
		case profileComment:
			err = numbers(n, data, func(v uint64) error { d.comments = append(d.comments, int64(v)); return nil })
		}
		if err != nil {
			return err
		}
	}
}

// numbers calls f with the values of a repeated number: one, or packed ones.
func numbers(n uint64, packed message, f func(uint64) error) error {
	if packed == nil {
		return f(n)
	}
	for len(packed) > 0 {
		v, err := packed.varint()
		if err != nil {
			return err
		}
		if err := f(v); err != nil {
			return err
		}
	}
	return nil
}

// valueType parses a type and its unit, as numbers of strings.
func valueType(m message) (t [2]int64, err error) {
	for len(m) > 0 {
		number, n, _, err := m.field()
		if err != nil {
			return t, err
		}
		if number == 1 || number == 2 {
			t[number-1] = int64(n)
		}
	}
	return t, nil
}

func (d *decoder) sample(m message) error {
	d.samples++
	var (
		pair   rawPair
		places int
		at     = len(d.values)
	)
	for len(m) > 0 {
		number, n, data, err := m.field()
		if err != nil {
			return err
		}
		switch number {
		case 1:
			err = numbers(n, data, func(v uint64) error {
				switch places++; places {
				case 1:
					pair.leaf = v
				case 2:
					pair.caller = v
				}
				return nil
			})
		case 2:
			err = numbers(n, data, func(v uint64) error { d.values = append(d.values, int64(v)); return nil })
		}
		if err != nil {
			return err
		}
	}
	if d.width == 0 {
		d.width = len(d.values) - at
	}
	if len(d.values)-at != d.width || d.width == 0 {
		return fmt.Errorf("sample %d has %d values, and those before it %d", d.samples, len(d.values)-at, d.width)
	}
	return d.sum(pair, places, at)
}

// sum adds the values that were read last to those of the same pair of locations.
func (d *decoder) sum(pair rawPair, places, at int) error {
	values := d.values[at:]
	for _, v := range values {
		if v < 0 {
			return fmt.Errorf("sample %d has the negative value %d: this is the difference of two profiles, or damaged", d.samples, v)
		}
	}
	if places > 0 && pair.leaf == 0 || places > 1 && pair.caller == 0 {
		return fmt.Errorf("sample %d has a location with the number 0, which none has", d.samples)
	}
	i, ok := d.pairs[pair]
	if places > 0 && !ok {
		d.pairs[pair] = len(d.order)
		d.order = append(d.order, pair)
		return nil
	}
	if places > 0 {
		have := d.values[i*d.width:][:d.width]
		for k, v := range values {
			if v > math.MaxInt64-have[k] {
				return ErrOverflow
			}
			have[k] += v
		}
	}
	d.values = d.values[:at]
	return nil
}

func (d *decoder) location(m message) error {
	var (
		id uint64
		l  rawLocation
	)
	for len(m) > 0 {
		number, n, data, err := m.field()
		if err != nil {
			return err
		}
		switch number {
		case 1:
			id = n
		case 2:
			l.mapping = n
		case 3:
			l.address = n
		case 4:
			var line rawLine
			for len(data) > 0 {
				number, n, _, err := data.field()
				if err != nil {
					return err
				}
				switch number {
				case 1:
					line.function = n
				case 2:
					line.line = int64(n)
				}
			}
			l.lines = append(l.lines, line)
		}
	}
	if _, twice := d.locations[id]; twice || id == 0 {
		return fmt.Errorf("there is a second location with the number %d", id)
	}
	d.locations[id] = l
	return nil
}

func (d *decoder) function(m message) error {
	var (
		id uint64
		f  rawFunction
	)
	for len(m) > 0 {
		number, n, _, err := m.field()
		if err != nil {
			return err
		}
		switch number {
		case 1:
			id = n
		case 2:
			f.name = int64(n)
		case 3:
			f.system = int64(n)
		case 4:
			f.file = int64(n)
		case 5:
			f.start = int64(n)
		}
	}
	if _, twice := d.functions[id]; twice || id == 0 {
		return fmt.Errorf("there is a second function with the number %d", id)
	}
	d.functions[id] = f
	return nil
}

func (d *decoder) text(i int64) (string, error) {
	if i == 0 && len(d.strings) == 0 {
		return "", nil
	}
	if i < 0 || i >= int64(len(d.strings)) {
		return "", fmt.Errorf("string %d is not in the profile, which has %d", i, len(d.strings))
	}
	return d.strings[i], nil
}

// named returns a type with its unit.
func (d *decoder) named(t [2]int64) (Unit, error) {
	name, err := d.text(t[0])
	if err != nil {
		return "", err
	}
	unit, err := d.text(t[1])
	return Unit(name + "/" + unit), err
}

// unit returns the index of the sample value to use, and its unit.
func (d *decoder) unit() (int, Unit, error) {
	var all []string
	for i, t := range d.types {
		u, err := d.named(t)
		if err != nil {
			return 0, "", err
		}
		if u == Samples || u == Nanoseconds {
			return i, u, nil
		}
		all = append(all, string(u))
	}
	if d.samples == 0 {
		return 0, Samples, nil // there are no samples
	}
	return 0, "", fmt.Errorf("%w; it has %s", ErrNoTime, strings.Join(all, ", "))
}

// profile converts the samples to a Profile.
func (d *decoder) profile(executable string) (*Profile, error) {
	value, unit, err := d.unit()
	if err != nil {
		return nil, err
	}
	if d.samples > 0 && len(d.types) != d.width {
		return nil, fmt.Errorf("the samples have %d values, and there are %d sample types", d.width, len(d.types))
	}
	p := New(unit)
	p.Duration = time.Duration(max(d.duration, 0))
	per, err := d.named(d.per)
	if err != nil {
		return nil, err
	}
	if per == Nanoseconds && unit == Samples {
		p.Period = time.Duration(max(d.period, 0))
	}
	for _, c := range d.comments {
		text, err := d.text(c)
		if err != nil {
			return nil, err
		}
		p.Comments = append(p.Comments, text)
	}
	wanted, err := d.choose(executable)
	if err != nil {
		return nil, err
	}
	places := map[uint64]int32{0: None}
	for i, raw := range d.order {
		w := d.values[i*d.width+value]
		if w == 0 || !wanted(raw) {
			continue
		}
		for _, id := range []uint64{raw.leaf, raw.caller} {
			if err := d.place(p, places, id); err != nil {
				return nil, err
			}
		}
		same := raw.caller != 0 && d.locations[raw.leaf].address == d.locations[raw.caller].address
		if err := p.add(Pair{places[raw.leaf], places[raw.caller], same}, w); err != nil {
			return nil, err
		}
	}
	if _, err := p.Total(); err != nil {
		return nil, err
	}
	return p, nil
}

// place adds a location to the profile, if it is new.
func (d *decoder) place(p *Profile, places map[uint64]int32, id uint64) error {
	if _, ok := places[id]; ok {
		return nil
	}
	l, ok := d.locations[id]
	if !ok {
		return fmt.Errorf("a sample is at location %d, which is not in the profile", id)
	}
	place := make(Place, 0, len(l.lines))
	for _, line := range l.lines {
		f := Frame{Line: int(line.line)}
		if line.function != 0 {
			raw, ok := d.functions[line.function]
			if !ok {
				return fmt.Errorf("location %d is in function %d, which is not in the profile", id, line.function)
			}
			var err error
			if f.Func, err = d.text(raw.name); err != nil {
				return err
			}
			if f.File, err = d.text(raw.file); err != nil {
				return err
			}
			f.Start = int(raw.start)
			system, err := d.text(raw.system)
			if err != nil {
				return err
			}
			if system != "" && strings.HasPrefix(f.Func, system+" (") { // scopeview added a distinction from another function of that name
				f.Func = system
			}
		} else {
			f.Line = 0 // the compiler ignores lines without a function
		}
		place = append(place, f)
	}
	if len(place) == 0 {
		place = Place{{}}
	}
	places[id] = p.Place(slices.Clip(place))
	return nil
}
