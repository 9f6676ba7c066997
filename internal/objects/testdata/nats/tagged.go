//go:build nobody_has_this

package nats

import "sync"

type tagged struct{ mu sync.Mutex }

func (t *tagged) f() {
	t.mu.Lock() // = place
}
