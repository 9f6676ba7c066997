package format

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Command is a command of another process to a running recorder.
type Command uint32

const (
	CommandOn       Command = 1 // record again, with the existing filter
	CommandOff      Command = 2 // record nothing
	CommandFilter   Command = 3 // Text is the filter
	CommandSnapshot Command = 4 // Text is the path; empty: beside the trace
)

// Request is a request to the recorder, in chunk 0 at ControlOffset. A process that may
// write to the file stores it; at each tick the recorder checks whether its number is
// unanswered, executes it, and stores the answer.
//
//	+0    u64 number of the last request, from 1 on
//	+8    u64 number of the last request that was answered
//	+16   u32 command, u32 length of its text
//	+24   u32 1 if it was refused or failed, u32 length of the answer
//	+64   the request's text
//	+1088 the answer's text
type Request struct {
	Number  uint64
	Command Command
	Text    string
}

// Answer is the answer to a request.
type Answer struct {
	Number uint64 // the request's
	Failed bool
	Text   string // what was done, or why not; cut if it does not fit
}

// Offsets of a request's parts from ControlOffset.
const (
	requestNumber  = 0
	answerNumber   = 8
	requestHead    = 16
	answerHead     = 24
	requestText    = 64
	maxRequestText = 1024
	answerText     = requestText + maxRequestText
	ControlSize    = answerText + maxRequestText
)

// ErrRequest is the error for an invalid request or answer.
var ErrRequest = errors.New("the trace's control words make no sense")

// Store writes the request into the trace f.
func (r *Request) Store(f io.WriterAt) error {
	if len(r.Text) > maxRequestText {
		return fmt.Errorf("%d bytes of text, at most %d fit", len(r.Text), maxRequestText)
	}
	return store(f, r.Text, uint32(r.Command), r.Number, requestText, requestHead, requestNumber)
}

// Store writes the answer into the trace f.
func (a *Answer) Store(f io.WriterAt) error {
	failed := uint32(0)
	if a.Failed {
		failed = 1
	}
	return store(f, a.Text[:min(len(a.Text), maxRequestText)], failed, a.Number, answerText, answerHead, answerNumber)
}

// store writes the number last: nothing is read before it changes.
func store(f io.WriterAt, text string, word uint32, number uint64, textAt, headAt, numberAt int64) error {
	le := binary.LittleEndian
	head := le.AppendUint32(le.AppendUint32(nil, word), uint32(len(text)))
	_, err := f.WriteAt([]byte(text), ControlOffset+textAt)
	if err == nil {
		_, err = f.WriteAt(head, ControlOffset+headAt)
	}
	if err == nil {
		_, err = f.WriteAt(le.AppendUint64(nil, number), ControlOffset+numberAt)
	}
	return err
}

// ReadControl reads the last request and the last answer from the trace f. An ErrRequest
// concerns the request, whose number is right; an invalid answer has no text.
func ReadControl(f io.ReaderAt) (r Request, a Answer, err error) {
	le := binary.LittleEndian
	var b [ControlSize]byte
	// If the numbers are unchanged in a second reading, that one has everything stored
	// before them.
	for range 4 {
		if _, err := f.ReadAt(b[:requestHead], ControlOffset); err != nil {
			return r, a, err
		}
		r.Number, a.Number = le.Uint64(b[requestNumber:]), le.Uint64(b[answerNumber:])
		if _, err := f.ReadAt(b[:], ControlOffset); err != nil {
			return r, a, err
		}
		if r.Number == le.Uint64(b[requestNumber:]) && a.Number == le.Uint64(b[answerNumber:]) {
			break
		}
	}
	text := func(head, at int) (string, error) {
		n := le.Uint32(b[head+4:])
		if n > maxRequestText {
			return "", fmt.Errorf("%w: a text of %d bytes", ErrRequest, n)
		}
		return string(b[at : at+int(n)]), nil
	}
	r.Command, a.Failed = Command(le.Uint32(b[requestHead:])), le.Uint32(b[answerHead:]) != 0
	a.Text, _ = text(answerHead, answerText)
	r.Text, err = text(requestHead, requestText)
	return r, a, err
}
