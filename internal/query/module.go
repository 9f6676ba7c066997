package query

import (
	"errors"
	"fmt"
	"iter"
	"sort"
	"strconv"
	"sync"

	"modernc.org/libc"
	"modernc.org/sqlite"
	"modernc.org/sqlite/lib"
	"modernc.org/sqlite/vtab"
)

// moduleName is the name of the module in SQL.
const moduleName = "scopeview"

// driver returns the driver of all questions: SQLite keeps a module for the life of the process,
// so there is one, and a table finds its question by a number.
var driver = sync.OnceValues(func() (*sqlite.Driver, error) {
	// Without the count of its memory, which the driver's build leaves out, there is no limit of it.
	tls, counts := libc.NewTLS(), libc.NewVaList(int32(1))
	defer tls.Close()
	defer libc.Xfree(tls, counts)
	if rc := sqlite3.Xsqlite3_config(tls, sqlite3.SQLITE_CONFIG_MEMSTATUS, counts); rc != sqlite3.SQLITE_OK {
		return nil, fmt.Errorf("preparing SQLite to limit its memory: error %d", rc)
	}
	d := &sqlite.Driver{}
	return d, d.RegisterModule(moduleName, module{})
})

// questions has the questions that are being answered, by number.
var questions struct {
	sync.Mutex
	last int
	all  map[int]*Question
}

// register gives q its number.
func register(q *Question) {
	questions.Lock()
	defer questions.Unlock()
	if questions.all == nil {
		questions.all = map[int]*Question{}
	}
	questions.last++
	q.number = questions.last
	questions.all[q.number] = q
}

func unregister(q *Question) {
	questions.Lock()
	defer questions.Unlock()
	delete(questions.all, q.number)
}

// module makes the virtual tables: USING scopeview(NUMBER, TABLE).
type module struct{}

// VolatileArgs makes SQLite lend texts instead of copying them up to their first zero byte.
func (module) VolatileArgs() bool { return true }

func (module) Create(ctx vtab.Context, args []string) (vtab.Table, error) {
	if len(args) != 5 {
		return nil, errors.New("a table of scopeview has a question and a name")
	}
	number, _ := strconv.Atoi(args[3])
	questions.Lock()
	q := questions.all[number]
	questions.Unlock()
	if q == nil {
		return nil, errors.New("the question is over")
	}
	if args[4] == answerName {
		return &answer{q: q}, ctx.Declare(answerDeclaration(len(q.Columns)))
	}
	t := tableOf(args[4])
	if t == nil {
		return nil, fmt.Errorf("there is no table %s", args[4])
	}
	return &virtual{table: t, q: q}, ctx.Declare(t.declaration())
}

func (m module) Connect(ctx vtab.Context, args []string) (vtab.Table, error) {
	return m.Create(ctx, args)
}

// virtual is a table of a question.
type virtual struct {
	*table
	q     *Question
	scans int              // number of scans begun
	kept  map[uint64]*kept // by the columns used; nil: too large
}

// BestIndex implements vtab.Table.
func (v *virtual) BestIndex(info *vtab.IndexInfo) error {
	plan, share := v.planOf(info)
	used := strconv.FormatUint(info.ColUsed, 16)
	info.IdxStr = used + " " + plan
	all := float64(v.q.rows(v.table))
	info.EstimatedRows = int64(all*share) + 1
	info.EstimatedCost = all + 10*all*share // the rows are read, and those that pass go to SQLite
	info.OrderByConsumed = v.ordered && len(info.OrderBy) == 1 && info.OrderBy[0].Column == v.time && !info.OrderBy[0].Desc
	return nil
}

// Open implements vtab.Table.
func (v *virtual) Open() (vtab.Cursor, error) { return &cursor{v: v}, nil }

// Disconnect implements vtab.Table.
func (v *virtual) Disconnect() error { return nil }

// Destroy implements vtab.Table.
func (v *virtual) Destroy() error { return nil }

// batch is some rows of a table.
type batch interface {
	rows() int
	value(row, column int) vtab.Value
	time(row int) int64 // of ordered tables: the value of the column of time
	size() int          // bytes of memory
	// passes reports whether a row may pass the conditions.
	passes(row int, where *conditions) bool
}

// cursor is a scan of a table.
type cursor struct {
	v     *virtual
	next  func() (batch, bool)
	stop  func()
	where *conditions // of a scan of kept rows, which are not tested yet; else nil
	b     batch       // nil: at the end
	row   int
	rowid int64
}

// Filter implements vtab.Cursor: it begins a scan.
func (c *cursor) Filter(_ int, index string, args []vtab.Value) error {
	c.Close()
	var used uint64
	var plan string
	fmt.Sscanf(index, "%x %s", &used, &plan)
	where := c.v.conditionsOf(used, plan, args)
	c.v.scans++
	if list := c.v.again(where); list != nil {
		c.where = where
		c.next, c.stop = iter.Pull(list.batches(where, c.v.time))
	} else {
		c.next, c.stop = iter.Pull(c.v.batches(where, false))
	}
	return c.Next()
}

// Next implements vtab.Cursor.
func (c *cursor) Next() error {
	c.rowid++
	for c.row++; ; c.row++ {
		for c.b == nil || c.row >= c.b.rows() {
			if err := c.v.q.ctx.Err(); err != nil {
				return err
			}
			var ok bool
			if c.b, ok = c.next(); !ok {
				c.b = nil
				return c.v.q.ctx.Err()
			}
			c.row = 0
		}
		if c.where == nil || c.b.passes(c.row, c.where) {
			return nil
		}
	}
}

// Eof implements vtab.Cursor.
func (c *cursor) Eof() bool { return c.b == nil }

// Column implements vtab.Cursor.
func (c *cursor) Column(column int) (vtab.Value, error) { return c.b.value(c.row, column), nil }

// Rowid implements vtab.Cursor.
func (c *cursor) Rowid() (int64, error) { return c.rowid, nil }

// Close implements vtab.Cursor.
func (c *cursor) Close() error {
	if c.stop != nil {
		c.stop()
	}
	*c = cursor{v: c.v}
	return nil
}

// batches returns the rows of a scan. An error of reading ends them, and is kept for the answer.
// Unless keep is set, a batch is valid until the next one.
func (v *virtual) batches(where *conditions, keep bool) iter.Seq[batch] {
	return func(yield func(batch) bool) {
		s := &scan{table: v.table, q: v.q, where: where, yield: yield, keep: keep}
		v.table.scan(s)
	}
}

// scan is one reading of a table.
type scan struct {
	*table
	q     *Question
	where *conditions
	yield func(batch) bool
	keep  bool // batches are not used again
	over  bool // no more rows are wanted
}

// put hands on a batch, unless no more rows are wanted.
func (s *scan) put(b batch) bool {
	if !s.over && (s.q.ctx.Err() != nil || !s.yield(b)) {
		s.over = true
	}
	return !s.over
}

// keptMost is the maximum size, in bytes, of a table in memory.
const keptMost = 64 << 20

// kept are the rows of a table that is scanned again and again.
type kept struct {
	list   []batch
	first  []int // number of the first row of each batch
	rows   int
	sorted bool // by time
}

// again returns the kept rows for a scan; nil: it is the first one, or they would be too large.
func (v *virtual) again(where *conditions) *kept {
	if v.scans < 2 {
		return nil
	}
	if k, ok := v.kept[where.used]; ok {
		return k
	}
	k, size, last := &kept{sorted: v.ordered}, 0, int64(0)
	for b := range v.batches(&conditions{used: where.used}, true) {
		if size += b.size(); size > keptMost {
			k = nil
			break
		}
		if k.sorted {
			for i := range b.rows() {
				now := b.time(i)
				k.sorted = k.sorted && (k.rows+i == 0 || now >= last)
				last = now
			}
		}
		k.list, k.first = append(k.list, b), append(k.first, k.rows)
		k.rows += b.rows()
	}
	if v.kept == nil {
		v.kept = map[uint64]*kept{}
	}
	v.kept[where.used] = k
	return k
}

// batches returns the rows in the range of time of a scan.
func (k *kept) batches(where *conditions, time int) iter.Seq[batch] {
	from, to := 0, k.rows
	if k.sorted && time >= 0 {
		least, most := where.within(time)
		from = sort.Search(k.rows, func(i int) bool { return k.time(i) >= least })
		to = max(from, sort.Search(k.rows, func(i int) bool { return k.time(i) > most }))
	}
	return func(yield func(batch) bool) {
		for from < to {
			i := k.batchOf(from)
			part := section{k.list[i], from - k.first[i], min(to-k.first[i], k.list[i].rows())}
			if from += part.rows(); !yield(part) {
				return
			}
		}
	}
}

// batchOf returns the index of the batch with a row.
func (k *kept) batchOf(row int) int { return sort.SearchInts(k.first, row+1) - 1 }

func (k *kept) time(row int) int64 {
	i := k.batchOf(row)
	return k.list[i].time(row - k.first[i])
}

// section is a part of a batch.
type section struct {
	batch
	from, to int
}

func (s section) rows() int                        { return s.to - s.from }
func (s section) value(row, column int) vtab.Value { return s.batch.value(s.from+row, column) }
func (s section) passes(row int, where *conditions) bool {
	return s.batch.passes(s.from+row, where)
}
