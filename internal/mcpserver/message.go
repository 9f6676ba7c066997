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

// envelope holds the members of a JSON-RPC message, unparsed.
type envelope struct {
	version, id, method, params json.RawMessage
	answers                     bool   // it has a result or an error
	twice                       string // a duplicate member; parsers differ in which one they use
}

// parseEnvelope parses an object. If it returns an error, the envelope has the members before it.
func parseEnvelope(text []byte) (e envelope, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return e, errors.New("it is not an object")
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

// known returns the message's id if it is a valid one, else null.
func (e *envelope) known() json.RawMessage {
	if len(e.id) == 0 || e.twice == "id" || !bytes.ContainsAny(e.id[:1], `"-0123456789`) || !utf8.Valid(e.id) {
		return null
	}
	return e.id
}

// call reports whether the sender expects an answer.
func (e *envelope) call() bool { return e.id != nil }

// problem returns the rule that a message, which must not be a response, breaks; "" if it breaks
// none.
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
		return "the method is missing or not a string"
	case e.params != nil && !slices.Contains([]byte("{[n"), e.params[0]):
		return "its params are neither an object nor an array"
	}
	return ""
}

// request returns a valid message as the SDK represents it. Its id is the client's text, so that it
// comes back byte for byte, and two ids are equal only if their texts are.
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

// original returns data of the SDK with the client's text of the call id that _meta may contain.
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

// edit returns an object with one of its members replaced. It returns other values, and objects
// without the member, unchanged.
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

// validJSON reports whether a line is JSON in UTF-8. Go's parser also accepts invalid UTF-8.
func validJSON(line []byte) bool { return utf8.Valid(line) && json.Valid(line) }
