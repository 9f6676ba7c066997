package live

import (
	"fmt"
	"net/http"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/scopeview/scopeview/internal/timeline"
)

// waitFor is the maximum time that a request waits for news. Then it returns the open
// scopes, and the current time of the trace.
const waitFor = time.Second

// serveLive sends the news since the cursor, and waits for some.
func (s *Server) serveLive(w http.ResponseWriter, r *http.Request, b *book) {
	c, err := parseCursor(r.URL.Query().Get("cursor"))
	if err != nil {
		refuse(w, http.StatusBadRequest, sentence(err))
		return
	}
	if !b.has(c.session) { // it does not wait for a replaced session
		answer(w, &timeline.Container{Meta: &timeline.Meta{Reload: true}})
		return
	}
	x, ok := s.load(w, r, b)
	if !ok {
		return
	}
	timeout := time.NewTimer(waitFor)
	defer timeout.Stop()
	loaded := x.whole
	if c.loading == 0 {
		loaded = nil
	}
	for waited := false; ; waited = true {
		x.mu.Lock()
		tile, next, ok := x.index.Since(c.next)
		if c.loading > 0 {
			ok = !waited && !closed(x.whole) // otherwise there is more of it
		}
		if !ok || c.session != x.id || x.status.over || c.items+c.next-c.first > s.most.grown {
			meta := x.meta(s.o.Version, c.res, c.places)
			x.mu.Unlock()
			meta.Reload = true
			answer(w, &timeline.Container{Meta: meta})
			return
		}
		if next > c.next || waited {
			meta, open := x.meta(s.o.Version, c.res, c.places), x.index.Open()
			x.mu.Unlock()
			c.next = next
			since(meta, &c)
			answer(w, &timeline.Container{Meta: meta, Tile: tile, Open: open, Live: true})
			return
		}
		change := x.change
		x.mu.Unlock()
		select {
		case <-change:
		case <-loaded:
			loaded = nil
		case <-timeout.C:
		case <-r.Context().Done():
			return
		}
	}
}

// since removes from meta the names and the heartbeats that the page of c already has (its
// places are only new ones), and advances the cursor.
func since(meta *timeline.Meta, c *cursor) {
	from := min(int(c.names), len(meta.Names))
	c.names = int64(len(meta.Names))
	meta.Names, meta.NamesFrom = meta.Names[from:], from
	c.places += int64(meta.Places.Len())
	b := &meta.Beats
	n := sort.Search(len(b.Time), func(i int) bool { return b.Time[i] > c.beats })
	if last := len(b.Time) - 1; last >= 0 {
		c.beats = b.Time[last]
	}
	b.Time = b.Time[n:]
	for _, column := range []*[]*int64{&b.User, &b.System, &b.RSS, &b.Heap, &b.Goroutines, &b.GC} {
		*column = (*column)[n:]
	}
	meta.Live = &timeline.Live{Cursor: c.String()}
}

// cursor describes what a page has. Pages return it unchanged.
type cursor struct {
	session string // that it is about
	res     int64  // resolution of the page's whole
	items   int64  // number of items in that
	first   int64  // first news after it
	next    int64  // next news
	names   int64
	places  int64
	beats   int64 // time of the page's last beat, or -1
	loading int64 // 1: the whole was not completely loaded
}

func (c *cursor) numbers() []*int64 {
	return []*int64{&c.res, &c.items, &c.first, &c.next, &c.names, &c.places, &c.beats, &c.loading}
}

func (c cursor) String() string {
	parts := []string{c.session}
	for _, n := range c.numbers() {
		parts = append(parts, strconv.FormatInt(*n, 10))
	}
	return strings.Join(parts, "_")
}

func parseCursor(s string) (c cursor, err error) {
	parts := strings.Split(s, "_")
	numbers := c.numbers()
	bad := len(parts) != 1+len(numbers)
	for i := 0; i < len(numbers) && !bad; i++ {
		v, err := strconv.ParseInt(parts[1+i], 10, 64)
		*numbers[i], bad = v, err != nil || v < 0 && numbers[i] != &c.beats
	}
	if bad {
		return c, fmt.Errorf("%q is not a cursor; use the one in the last answer", s)
	}
	c.session = parts[0]
	return c, nil
}
