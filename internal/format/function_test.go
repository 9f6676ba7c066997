package format

import "testing"

func TestShortFunction(t *testing.T) {
	for _, c := range []struct{ name, want string }{
		{"main.main", "main.main"},
		{"main.main.func1", "main.main.func1"},
		{"sync.(*Mutex).Lock", "sync.(*Mutex).Lock"},
		{"internal/sync.(*Mutex).Lock", "sync.(*Mutex).Lock"},
		{"github.com/dgraph-io/badger/v4.(*DB).Update", "badger.(*DB).Update"},
		{"github.com/dgraph-io/badger/v4/table.Open", "table.Open"},
		{"github.com/dgraph-io/badger/v14.Open.func2.1", "badger.Open.func2.1"},
		{"github.com/nats-io/nats%2ego.(*Conn).Publish", "nats.go.(*Conn).Publish"},
		{"github.com/nats-io/nats-server/v2/server.(*client).readLoop", "server.(*client).readLoop"},
		{"gopkg.in/yaml%2ev3.Unmarshal", "yaml.v3.Unmarshal"},
		{"example.com/v2.F", "example.com.F"},
		{"k8s.io/api/core/v1.F", "v1.F"},
		{"k8s.io/api/apps/v1beta2.F", "v1beta2.F"},
		{"v2.F", "v2.F"},
		{"slices.SortFunc[go.shape.[]example.com/a/v2.T,example.com/b.U]", "slices.SortFunc[go.shape.[]example.com/a/v2.T,example.com/b.U]"},
		{"example.com/a.F[example.com/b/c.T]", "a.F[example.com/b/c.T]"},
		{"a.com/x/v3.(*Map[...]).Get", "x.(*Map[...]).Get"},
		{"a/b%25c%zz%2.F", "b%c%zz%2.F"},
		{"runtime", "runtime"},
		{"a/b", "b"},
		{"", ""},
	} {
		if got := ShortFunction(c.name); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
