package nats_test

import "sync"

type fixture struct{ other sync.Mutex }

func use(f *fixture) {
	f.other.Lock() // = nats_test.fixture.other
}
