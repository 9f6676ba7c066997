package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/coder/websocket"
)

// bidi is a connection by WebDriver BiDi: commands are sent and answered by number, with
// events in between.
type bidi struct {
	socket *websocket.Conn
	event  func(method string, params json.RawMessage)

	mu      sync.Mutex
	last    int
	waiting map[int]chan answer
	ended   error
}

type answer struct {
	ID      int
	Type    string
	Method  string
	Params  json.RawMessage
	Result  json.RawMessage
	Error   string
	Message string
}

// dial connects to a browser; events are passed to event, which must not send commands.
func dial(ctx context.Context, url string, event func(method string, params json.RawMessage)) (*bidi, error) {
	socket, _, err := websocket.Dial(ctx, url, nil)
	if err != nil {
		return nil, err
	}
	socket.SetReadLimit(-1) // pictures are large
	c := &bidi{socket: socket, event: event, waiting: make(map[int]chan answer)}
	go c.read()
	return c, nil
}

func (c *bidi) read() {
	for {
		_, message, err := c.socket.Read(context.Background())
		var a answer
		if err == nil {
			err = json.Unmarshal(message, &a)
		}
		if err != nil {
			c.end(err)
			return
		}
		if a.Type == "event" {
			c.event(a.Method, a.Params)
			continue
		}
		c.mu.Lock()
		if to := c.waiting[a.ID]; to != nil {
			to <- a
		}
		delete(c.waiting, a.ID)
		c.mu.Unlock()
	}
}

// end unblocks all waits for answers that cannot come.
func (c *bidi) end(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = err
	for _, to := range c.waiting {
		close(to)
	}
	c.waiting = nil
}

// object is a JSON object.
type object = map[string]any

// call sends a command and stores its answer in result, unless that is nil.
func (c *bidi) call(method string, params object, result any) error {
	c.mu.Lock()
	if c.ended != nil {
		defer c.mu.Unlock()
		return fmt.Errorf("%s: the browser has ended: %w", method, c.ended)
	}
	c.last++
	id, to := c.last, make(chan answer, 1)
	c.waiting[id] = to
	c.mu.Unlock()
	b, err := json.Marshal(object{"id": id, "method": method, "params": params})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := c.socket.Write(ctx, websocket.MessageText, b); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	select {
	case a, ok := <-to:
		if !ok {
			return fmt.Errorf("%s: the browser has ended", method)
		}
		if a.Type == "error" {
			return fmt.Errorf("%s: %s: %s", method, a.Error, a.Message)
		}
		if result == nil {
			return nil
		}
		return json.Unmarshal(a.Result, result)
	case <-ctx.Done():
		return fmt.Errorf("%s: no answer within %v", method, patience)
	}
}
