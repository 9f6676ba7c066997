package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/scopeview/scopeview/internal/report"
)

// answer is the response to a call, or to a line that is not a valid message.
type answer struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *jsonrpc.Error  `json:"error,omitempty"`
}

func refusal(id json.RawMessage, code int64, message string) answer {
	return answer{Version: "2.0", ID: id, Error: &jsonrpc.Error{Code: code, Message: message}}
}

// Write implements mcp.Connection.
func (c *lines) Write(_ context.Context, m jsonrpc.Message) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, ok := m.(*jsonrpc.Response)
	if !ok {
		if r, ok := m.(*jsonrpc.Request); ok {
			r.Params = original(r.Params)
		}
		data, err := jsonrpc.EncodeMessage(m)
		if err != nil {
			return err
		}
		return c.send(json.RawMessage(data))
	}
	id, _ := r.ID.Raw().(string)
	x := answer{Version: "2.0", ID: json.RawMessage(id), Result: original(r.Result)}
	if r.Error != nil {
		x.Result, x.Error = nil, wireError(r.Error)
	}
	from := c.calls[id]
	delete(c.calls, id)
	defer func() {
		select {
		case c.answered <- struct{}{}:
		default:
		}
	}()
	if from == nil || from.batch == nil {
		return c.send(x)
	}
	from.batch.left--
	from.batch.answers = append(from.batch.answers, x)
	return c.complete(from.batch)
}

// wireError returns an error as it is sent: with a code, and a message that does not repeat the
// whole input.
func wireError(err error) *jsonrpc.Error {
	var e jsonrpc.Error
	if coded := (*jsonrpc.Error)(nil); errors.As(err, &coded) {
		e = *coded
	}
	switch {
	case e.Code != 0:
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		e.Code = jsonrpc.CodeInternalError
	default: // the SDK has no code for calls before the handshake
		e.Code = jsonrpc.CodeInvalidRequest
	}
	e.Message = report.Cut(err.Error(), mostError)
	return &e
}

// send writes a line. c.mu is held.
func (c *lines) send(v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // ids are sent back unchanged
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("encoding an answer: %w", err)
	}
	if _, err := c.out.Write(b.Bytes()); err != nil {
		return fmt.Errorf("writing an answer: %w", err)
	}
	return nil
}
