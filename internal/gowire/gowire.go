// Package gowire splits the bytes of Go execution traces into generations, batches and events,
// without the state of what came before.
//
// # Design
//
// A trace of Go 1.22 and later is a header and generations, of about a second each, one after
// the other. A generation consists of batches, each of one thread, and has all that is needed
// to read it: the state of every goroutine, its texts, its stacks and its clock. So
// generations can be read separately: at the same time, or after a damaged one.
// golang.org/x/exp/trace orders the events of all threads (see internal/gotrace).
package gowire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// HeaderSize is the number of bytes before the first generation.
const HeaderSize = 16

// The versions of Go 1 whose traces can be read. A version that did not change the format
// writes the number of the previous one.
const (
	oldest = 22
	newest = 26
)

// ErrNone reports that the data is not a Go execution trace.
var ErrNone error = sentence("it is not a Go execution trace")

// Begins reports whether bytes begin like a Go execution trace, of any version.
func Begins(head []byte) bool { return strings.HasPrefix(string(head), "go 1.") }

// Version returns the version of Go 1 of a header. The errors are sentences about the trace.
func Version(head []byte) (int, error) {
	text, ok := strings.CutPrefix(string(head[:min(HeaderSize, len(head))]), "go 1.")
	number, _, ok2 := strings.Cut(text, " trace\x00\x00\x00")
	v, err := strconv.Atoi(number)
	switch {
	case !ok || !ok2 || err != nil:
		return 0, ErrNone
	case v < oldest:
		return v, sentence(fmt.Sprintf("it is of Go 1.%d, and traces from before Go 1.%d have another format; go tool trace still shows it", v, oldest))
	case v > newest:
		return v, sentence(fmt.Sprintf("it is of Go 1.%d, which this scopeview does not know; a newer one may", v))
	}
	return v, nil
}

// IsSentence reports whether an error of Version or NewCutter is about the trace, and not one
// of reading.
func IsSentence(err error) bool {
	var s sentence
	return errors.As(err, &s)
}

// sentence is an error about the trace.
type sentence string

func (s sentence) Error() string { return string(s) }

// Numbers of events, as in Go's internal/trace/tracev2.
const (
	BatchBegin          = 1
	Stacks              = 2
	Stack               = 3
	Strings             = 4
	String              = 5
	Samples             = 6
	Frequency           = 8
	ProcsChange         = 9
	ProcStatus          = 13
	GoCreate            = 14
	GoCreateSyscall     = 15
	GoStart             = 16
	GoDestroy           = 17
	GoDestroySyscall    = 18
	GoStop              = 19
	GoBlock             = 20
	GoSyscallBegin      = 22
	GoSyscallEndBlocked = 24
	GoStatus            = 25
	GCBegin             = 29
	HeapAlloc           = 37
	HeapGoal            = 38
	UserTaskBegin       = 40
	UserTaskEnd         = 41
	UserRegionBegin     = 42
	UserRegionEnd       = 43
	UserLog             = 44
	GoSwitch            = 45
	GoSwitchDestroy     = 46
	GoCreateBlocked     = 47
	GoStatusStack       = 48
	Experimental        = 49
	Sync                = 50
	ClockSnapshot       = 51
	EndOfGeneration     = 52
)

// first is the first event that has a time and can be in a batch of events.
const first = 9

// args has the number of arguments after an event's time, indexed by its number minus first.
var args = [...]int8{2, 2, 0, 3, 2, 3, 1, 2, 0, 0, 2, 2, 3, 2, 0, 0, 3, 2, 0, 1, 2, 1, 1, 1, 2, 1, 1, 0, 1, 1, 1, 4, 2, 3, 3, 4, 2, 2, 3, 4}

// Args returns the number of arguments after the time of an event; ok is false if kind is not
// an event with a time.
func Args(kind byte) (n int, ok bool) {
	if kind < first || int(kind-first) >= len(args) {
		return 0, false
	}
	return int(args[kind-first]), true
}

// maxBatch limits the bytes of a batch. Go's have 64 KiB at most.
const maxBatch = 1 << 20

// Batch is a sequence of events of one thread.
type Batch struct {
	Generation, Thread, Time uint64
	Experimental             bool
	Data                     []byte // the first byte is the number of an event; empty for End
	End                      bool   // it only marks the generation's end
}

// Next parses the batch at the start of b and returns its size, which is 0 if b has no whole
// batch. The error is a sentence about the trace: nothing can be parsed from here on.
func Next(b []byte) (x Batch, size int, err error) {
	if len(b) == 0 {
		return x, 0, nil
	}
	at := 1
	switch b[0] {
	case EndOfGeneration:
		return Batch{End: true}, 1, nil
	case Experimental:
		at++
		x.Experimental = true
	case BatchBegin:
	default:
		return x, 0, fmt.Errorf("where a batch should begin is an event of kind %d", b[0])
	}
	var length uint64
	for _, v := range []*uint64{&x.Generation, &x.Thread, &x.Time, &length} {
		n := 0
		if at < len(b) {
			*v, n = binary.Uvarint(b[at:])
		}
		if n < 0 || v == &length && length > maxBatch {
			return x, 0, errors.New("a batch has an invalid header")
		}
		if n == 0 {
			return x, 0, nil
		}
		at += n
	}
	if uint64(len(b)-at) < length {
		return x, 0, nil
	}
	x.Data = b[at : at+int(length)]
	return x, at + int(length), nil
}
