package export

import (
	"path"
	"strconv"
	"strings"

	"github.com/scopeview/scopeview/fleet/internal/tables"
)

// span is the time covered by an earlier file of the run: scopes that began at from or later
// and ended up to until, ns from the run's start.
type span struct{ from, until int64 }

// before reads which files of the run the store has.
func (x *export) before() error {
	from, until := x.base+x.from(), x.base+x.until()
	// A file has the date at which it begins. An overlapping file began on one of our days,
	// or contains the whole run from its start.
	days := []string{date(x.base)}
	for at := from - day; at < until+day && len(days) < mostDates; at += day {
		if d := date(at); d != days[0] {
			days = append(days, d)
		}
	}
	own := x.key(tables.Runs, date(from))
	for _, d := range days {
		list, err := x.out.List(x.ctx, path.Dir(x.key(tables.Runs, d))+"/")
		if err != nil {
			return err
		}
		for _, o := range list {
			if o.Key == own {
				x.Already = true
				return nil
			}
			if s, ok := spanOf(path.Base(o.Key)); ok {
				x.cover = append(x.cover, s)
			}
		}
	}
	return nil
}

// spanOf reads the name of a file in the table runs.
func spanOf(name string) (s span, ok bool) {
	parts := strings.Split(name, "-")
	if len(parts) != 3 || !strings.HasSuffix(name, ".parquet") {
		return s, false
	}
	from, err1 := strconv.ParseInt(parts[0], 10, 64)
	until, err2 := strconv.ParseInt(parts[1], 10, 64)
	return span{from, until}, err1 == nil && err2 == nil
}

// covered reports whether an earlier file contains an ended scope with these times.
func (x *export) covered(start, end int64) bool {
	for _, s := range x.cover {
		if start >= s.from && end <= s.until {
			return true
		}
	}
	return false
}
