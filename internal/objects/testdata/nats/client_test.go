package nats

import "sync"

type fixture struct{ mu sync.Mutex }

func use(f *fixture, c *client) {
	f.mu.Lock() // = nats.fixture.mu
	c.mu.Lock() // = nats.client.mu
}
