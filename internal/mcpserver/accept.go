package mcpserver

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// call is a call that is not answered yet.
type call struct {
	batch  *batch // nil: it was not part of a batch
	parked bool   // it is answered only when the session ends
}

// batch collects the answers to messages that came in one array.
type batch struct {
	left    int // unanswered calls
	answers []answer
}

// take queues the messages of a line, and answers a line that is not a message with an error.
func (c *lines) take(l line) error {
	text := bytes.TrimSpace(l.text)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case len(text) == 0 && !l.long:
		return nil
	case l.long:
		e, _ := parseEnvelope(text)
		return c.send(refusal(e.known(), jsonrpc.CodeInvalidRequest, fmt.Sprintf("invalid request: a line has at most %d bytes", c.most)))
	case !validJSON(text):
		return c.send(refusal(null, jsonrpc.CodeParseError, "parse error: the line is not JSON in UTF-8"))
	case text[0] == '[':
		return c.takeBatch(text)
	}
	if x := c.accept(text, nil); x != nil {
		return c.send(*x)
	}
	return nil
}

// takeBatch takes an array of messages. c.mu is held.
func (c *lines) takeBatch(text []byte) error {
	var list []json.RawMessage
	if err := json.Unmarshal(text, &list); err != nil || len(list) == 0 {
		return c.send(refusal(null, jsonrpc.CodeInvalidRequest, "invalid request: an empty batch"))
	}
	b := &batch{}
	for _, text := range list {
		if x := c.accept(text, b); x != nil {
			b.answers = append(b.answers, *x)
		}
	}
	return c.complete(b)
}

// complete sends the answers of a batch once there are all of them. c.mu is held.
func (c *lines) complete(b *batch) error {
	if b.left > 0 || len(b.answers) == 0 {
		return nil
	}
	return c.send(b.answers)
}

// accept queues a message, or returns the error to answer it with. b is the batch that contains it,
// or nil. c.mu is held.
func (c *lines) accept(text []byte, b *batch) *answer {
	e, err := parseEnvelope(text)
	problem := e.problem()
	switch {
	case err != nil:
		problem = err.Error()
	case e.method == nil && e.answers: // this server sends no requests
		return nil
	case problem == "" && e.call() && c.calls[string(e.id)] != nil: // with its id, the error would answer the other call
		e.id, problem = null, "its id is that of a call that is not answered yet"
	}
	if problem != "" {
		if !e.call() && notification(&e) {
			return nil
		}
		x := refusal(e.known(), jsonrpc.CodeInvalidRequest, "invalid request: "+problem)
		return &x
	}
	r := e.request()
	if e.call() {
		c.calls[string(e.id)] = &call{batch: b, parked: r.Method == "subscriptions/listen"}
		if b != nil {
			b.left++
		}
	}
	c.queue = append(c.queue, r)
	return nil
}

// notification reports whether a message without an id has a method: its sender expects no answer,
// even if its params are wrong.
func notification(e *envelope) bool {
	e.params = nil
	return e.problem() == ""
}
