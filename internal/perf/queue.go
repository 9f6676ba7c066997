package perf

import "slices"

// maxWaiting limits the bytes that wait in memory while there is no room in the trace:
// the flusher needs some milliseconds to make more.
const maxWaiting = 1 << 20

// queue writes blocks in order, and keeps those for which there was no room.
type queue struct {
	write func(payload []byte) bool
	list  [][]byte
	size  int
}

// put writes or queues a block, and reports false if it is lost.
func (q *queue) put(p []byte) bool {
	if q.retry() && q.write(p) {
		return true
	}
	if q.size+len(p) > maxWaiting {
		return false
	}
	q.list = append(q.list, slices.Clone(p))
	q.size += len(p)
	return true
}

// retry writes the blocks that wait, and reports whether none is left.
func (q *queue) retry() bool {
	n := 0
	for n < len(q.list) && q.write(q.list[n]) {
		q.size -= len(q.list[n])
		n++
	}
	q.list = slices.Delete(q.list, 0, n)
	return len(q.list) == 0
}
