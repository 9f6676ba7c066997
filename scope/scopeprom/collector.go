package scopeprom

import (
	"fmt"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/scopeview/scopeview/internal/glob"
	"github.com/scopeview/scopeview/internal/requests"
	"github.com/scopeview/scopeview/scope"
)

// NewCollector returns a collector of the recording's statistics and of the durations of
// scopes whose names match names, a list of globs as for scope.SetFilter. An empty list
// matches none.
func NewCollector(names string) (prometheus.Collector, error) {
	filter, err := glob.Parse(names)
	if err != nil {
		return nil, fmt.Errorf("scopeprom: the names of scopes: %w", err)
	}
	c := &collector{budget: maxReading}
	if names != "" {
		c.following = &following{
			filter: filter,
			texts:  requests.Bounded{Other: "(other names)"},
			durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
				Name:                            "scopeview_scope_duration_seconds",
				Help:                            "Durations of ended scopes.",
				NativeHistogramBucketFactor:     1.1,
				NativeHistogramMaxBucketNumber:  160,
				NativeHistogramMinResetDuration: time.Hour,
			}, []string{"name", "kind"}),
		}
	}
	return c, nil
}

// maxReading limits the time that a scrape reads the trace.
const maxReading = 500 * time.Millisecond

type collector struct {
	mu        sync.Mutex // serializes scrapes
	budget    time.Duration
	following *following // nil: no durations
}

// number is one of the recorder's statistics.
type number struct {
	desc  *prometheus.Desc
	kind  prometheus.ValueType
	label string // the label's value, if it has one
	of    func(*scope.Statistics) int64
}

func named(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("scopeview_"+name, help, labels, nil)
}

var (
	recordingDesc = named("recording", "1 while a recording is running and not switched off.")
	lostDesc      = named("lost_records_total", "Lost records, by reason.", "reason")
	unknownDesc   = named("lost_records_unknown", "1 where more may be lost than lost_records_total counts: the counters in the trace were changed from outside.")
	misuseDesc    = named("misuse_total", "Misuses of the scope API by kind.", "kind")
	behindDesc    = named("reading_behind", "1 if the last scrape did not reach the trace's end.")
	unreadDesc    = named("unread_chunks_total", "Chunks of 64 KiB that a ring overwrote before a scrape read them.")
	failedDesc    = named("reading_errors_total", "How often the trace could not be read.")
)

// numbers are the statistics of scope.Stats.
var numbers = []number{
	{recordingDesc, prometheus.GaugeValue, "", func(s *scope.Statistics) int64 {
		if s.Running && !s.Off {
			return 1
		}
		return 0
	}},
	counter("records_total", "Records written to the trace, including those that a ring has overwritten since.", func(s *scope.Statistics) int64 { return s.Recorded + s.Overwritten }),
	counter("overwritten_records_total", "Records that a ring has overwritten.", func(s *scope.Statistics) int64 { return s.Overwritten }),
	counter("stacks_total", "Calls of scope.Stack.", func(s *scope.Statistics) int64 { return s.Stacks }),
	counter("slow_scopes_total", "Scopes that took longer than a trigger's limit.", func(s *scope.Statistics) int64 { return s.Slow }),
	counter("snapshots_total", "Snapshots that were written.", func(s *scope.Statistics) int64 { return s.Snapshots }),
	counter("page_faults_total", "Pages that cost the program a page fault.", func(s *scope.Statistics) int64 { return s.PageFaults }),
	counter("late_chunks_total", "Chunks that a goroutine of the program had to prepare itself.", func(s *scope.Statistics) int64 { return s.PreparedLate }),
	{named("trace_bytes", "Bytes handed out in the trace."), prometheus.GaugeValue, "", func(s *scope.Statistics) int64 { return s.Bytes }},
	{named("names", "Names in the trace."), prometheus.GaugeValue, "", func(s *scope.Statistics) int64 { return s.Names }},
	lost("window", func(l *scope.Lost) int64 { return l.Window }), lost("limit", func(l *scope.Lost) int64 { return l.Limit }),
	lost("space", func(l *scope.Lost) int64 { return l.Space }), lost("io", func(l *scope.Lost) int64 { return l.IO }),
	lost("busy", func(l *scope.Lost) int64 { return l.Busy }), lost("stop", func(l *scope.Lost) int64 { return l.Stop }),
	lost("ends", func(l *scope.Lost) int64 { return l.Ends }), lost("stacks", func(l *scope.Lost) int64 { return l.Stacks }),
	lost("opens", func(l *scope.Lost) int64 { return l.Opens }), lost("buffer", func(l *scope.Lost) int64 { return l.Buffer }),
	{unknownDesc, prometheus.GaugeValue, "", func(s *scope.Statistics) int64 {
		if s.Lost.Unknown {
			return 1
		}
		return 0
	}},
	misuse("double_ends", func(m *scope.Misuse) int64 { return m.DoubleEnds }), misuse("foreign_ends", func(m *scope.Misuse) int64 { return m.ForeignEnds }),
	misuse("stale_ends", func(m *scope.Misuse) int64 { return m.StaleEnds }), misuse("other_names", func(m *scope.Misuse) int64 { return m.OtherNames }),
	misuse("other_stacks", func(m *scope.Misuse) int64 { return m.OtherStacks }), misuse("args_cut", func(m *scope.Misuse) int64 { return m.ArgsCut }),
}

func counter(name, help string, of func(*scope.Statistics) int64) number {
	return number{named(name, help), prometheus.CounterValue, "", of}
}

func lost(reason string, of func(*scope.Lost) int64) number {
	return number{lostDesc, prometheus.CounterValue, reason, func(s *scope.Statistics) int64 { return of(&s.Lost) }}
}

func misuse(kind string, of func(*scope.Misuse) int64) number {
	return number{misuseDesc, prometheus.CounterValue, kind, func(s *scope.Statistics) int64 { return of(&s.Misuse) }}
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(ch chan<- *prometheus.Desc) {
	for i := range numbers {
		if i == 0 || numbers[i].desc != numbers[i-1].desc {
			ch <- numbers[i].desc
		}
	}
	if c.following != nil {
		ch <- behindDesc
		ch <- unreadDesc
		ch <- failedDesc
		c.following.durations.Describe(ch)
	}
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := scope.Stats()
	for i := range numbers {
		n := &numbers[i]
		var labels []string
		if n.label != "" {
			labels = []string{n.label}
		}
		ch <- prometheus.MustNewConstMetric(n.desc, n.kind, float64(n.of(&s)), labels...)
	}
	if f := c.following; f != nil {
		behind := 0.0
		if !f.read(&s, time.Now().Add(c.budget)) {
			behind = 1
		}
		ch <- prometheus.MustNewConstMetric(behindDesc, prometheus.GaugeValue, behind)
		ch <- prometheus.MustNewConstMetric(unreadDesc, prometheus.CounterValue, float64(f.unread()))
		ch <- prometheus.MustNewConstMetric(failedDesc, prometheus.CounterValue, float64(f.failed))
		f.durations.Collect(ch)
	}
}
