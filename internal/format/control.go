package format

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Command is what somebody outside asks a running recorder to do.
type Command uint32

const (
	CommandOn       Command = 1 // record again, by the filter there was
	CommandOff      Command = 2 // record nothing
	CommandFilter   Command = 3 // Text is the filter
	CommandSnapshot Command = 4 // Text is the path; empty: beside the trace
)

// Request lies in chunk 0 from ControlOffset on. Whoever may write the file
// stores it, its number last; the recorder's tick looks whether the number is one
// that it has not answered, does it, and stores the answer, its number last.
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

// Answer to a request.
type Answer struct {
	Number uint64
	Failed bool
	Text   string // what was done, or why not
}

// Where a request's parts are, from ControlOffset on.
const (
	RequestNumber  = 0
	AnswerNumber   = 8
	RequestHead    = 16
	AnswerHead     = 24
	RequestText    = 64
	maxRequestText = 1024
	AnswerText     = RequestText + maxRequestText
	ControlSize    = AnswerText + maxRequestText
)

// ErrRequest is a request or an answer that makes no sense.
var ErrRequest = errors.New("the trace's control words make no sense")

// PutRequest puts a request's head and text where they belong in b, which has
// ControlSize bytes; the number is for the caller to store, after these.
func PutRequest(b []byte, r *Request) error {
	if len(r.Text) > maxRequestText {
		return fmt.Errorf("%d bytes of text, at most %d fit", len(r.Text), maxRequestText)
	}
	le := binary.LittleEndian
	le.PutUint32(b[RequestHead:], uint32(r.Command))
	le.PutUint32(b[RequestHead+4:], uint32(len(r.Text)))
	copy(b[RequestText:AnswerText], r.Text)
	return nil
}

// PutAnswer is PutRequest for an answer; what does not fit of its text is cut.
func PutAnswer(b []byte, a *Answer) {
	le := binary.LittleEndian
	failed := uint32(0)
	if a.Failed {
		failed = 1
	}
	n := copy(b[AnswerText:ControlSize], a.Text)
	le.PutUint32(b[AnswerHead:], failed)
	le.PutUint32(b[AnswerHead+4:], uint32(n))
}

// DecodeControl reads the last request and the last answer from b, ControlSize
// bytes. The error is about the request; of an answer that makes no sense there
// is no text.
func DecodeControl(b []byte) (r Request, a Answer, err error) {
	if len(b) < ControlSize {
		return r, a, fmt.Errorf("%w: %d bytes", ErrRequest, len(b))
	}
	le := binary.LittleEndian
	text := func(head, at int) (string, error) {
		n := le.Uint32(b[head+4:])
		if n > maxRequestText {
			return "", fmt.Errorf("%w: a text of %d bytes", ErrRequest, n)
		}
		return string(b[at : at+int(n)]), nil
	}
	r = Request{Number: le.Uint64(b[RequestNumber:]), Command: Command(le.Uint32(b[RequestHead:]))}
	r.Text, err = text(RequestHead, RequestText)
	a = Answer{Number: le.Uint64(b[AnswerNumber:]), Failed: le.Uint32(b[AnswerHead:]) != 0}
	a.Text, _ = text(AnswerHead, AnswerText)
	return r, a, err
}
