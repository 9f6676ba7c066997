package mcpserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// null is the id of an answer to a message whose own id is not known.
var null = json.RawMessage("null")

// envelope holds the members that JSON-RPC gives a message, as they were written.
type envelope struct {
	version, id, method, params json.RawMessage
	answers                     bool   // it has a result or an error
	twice                       string // a member that it has twice; parsers differ in which one they take
}

// parseEnvelope parses an object. After an error, the envelope has the members before it.
func parseEnvelope(text []byte) (e envelope, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return e, errors.New("it is no object")
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return e, err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return e, err
		}
		e.add(key.(string), value)
	}
	_, err = d.Token()
	return e, err
}

// add adds a member.
func (e *envelope) add(key string, value json.RawMessage) {
	var member *json.RawMessage
	switch key {
	case "jsonrpc":
		member = &e.version
	case "id":
		member = &e.id
	case "method":
		member = &e.method
	case "params":
		member = &e.params
	case "result", "error":
		e.answers = true
		return
	default:
		return
	}
	if *member != nil {
		e.twice = key
	}
	*member = value
}

// known returns the message's id if it is one that can be answered, else null.
func (e *envelope) known() json.RawMessage {
	if len(e.id) == 0 || e.twice == "id" || !bytes.ContainsAny(e.id[:1], `"-0123456789`) || !utf8.Valid(e.id) {
		return null
	}
	return e.id
}

// call reports whether the sender waits for an answer.
func (e *envelope) call() bool { return e.id != nil }

// problem returns the rule that a message breaks, which is no answer; "" if it breaks none.
func (e *envelope) problem() string {
	var version, method string
	switch {
	case e.twice != "":
		return fmt.Sprintf("it has the member %q twice", e.twice)
	case e.call() && e.known()[0] == null[0]:
		return "its id is neither a string nor a number"
	case json.Unmarshal(e.version, &version) != nil || version != "2.0":
		return `it lacks "jsonrpc":"2.0"`
	case e.method == nil || e.method[0] != '"' || json.Unmarshal(e.method, &method) != nil:
		return "it lacks a method, which is a string"
	case e.params != nil && !slices.Contains([]byte("{[n"), e.params[0]):
		return "its params are neither an object nor an array"
	}
	return ""
}

// request returns a message without a problem as the SDK has it. Its id is the text of the
// client's: so it comes back byte for byte, and two ids are the same only if they are written
// alike.
func (e *envelope) request() *jsonrpc.Request {
	r := &jsonrpc.Request{Params: e.params}
	_ = json.Unmarshal(e.method, &r.Method)
	if e.call() {
		r.ID, _ = jsonrpc.MakeID(string(e.id))
	}
	if r.Method == "notifications/cancelled" {
		r.Params = edit(r.Params, "requestId", func(id json.RawMessage) json.RawMessage {
			quoted, _ := json.Marshal(string(id))
			return quoted
		})
	}
	return r
}

// original returns data of the SDK, in whose _meta it may name the id of a call, with the id that
// the client has given.
func original(data json.RawMessage) json.RawMessage {
	if !bytes.Contains(data, []byte(mcp.MetaKeySubscriptionID)) {
		return data
	}
	return edit(data, "_meta", func(meta json.RawMessage) json.RawMessage {
		return edit(meta, mcp.MetaKeySubscriptionID, func(id json.RawMessage) json.RawMessage {
			var text string
			if json.Unmarshal(id, &text) != nil {
				return id
			}
			return json.RawMessage(text)
		})
	})
}

// edit returns an object with one of its members replaced. What is no object, or lacks the member,
// stays as it is.
func edit(object json.RawMessage, key string, replace func(json.RawMessage) json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(object, &members) != nil || members[key] == nil {
		return object
	}
	members[key] = replace(members[key])
	edited, err := json.Marshal(members)
	if err != nil {
		return object
	}
	return edited
}

// validJSON reports whether a line is JSON, which is UTF-8. Go's parser takes other bytes too.
func validJSON(line []byte) bool { return utf8.Valid(line) && json.Valid(line) }
