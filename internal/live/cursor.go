package live

import (
	"fmt"
	"strconv"
	"strings"
)

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
