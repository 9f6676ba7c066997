//go:build !scope_off

package scopeprom_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/scopeview/scopeview/scope"
	"github.com/scopeview/scopeview/scope/scopeprom"
)

// scraper scrapes a registry as Prometheus does.
type scraper struct {
	registry *prometheus.Registry
	prometheus.Collector
}

func newScraper(t *testing.T, names string) scraper {
	t.Helper()
	c, err := scopeprom.NewCollector(names)
	if err != nil {
		t.Fatal(err)
	}
	r := prometheus.NewPedanticRegistry()
	if err := r.Register(c); err != nil {
		t.Fatal(err)
	}
	return scraper{r, c}
}

// scrape returns the metrics, encoded and decoded as protobuf, by names and labels.
func (s scraper) scrape(t *testing.T) map[string]*dto.Metric {
	t.Helper()
	families, err := s.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	form := expfmt.NewFormat(expfmt.TypeProtoDelim)
	encoder := expfmt.NewEncoder(&b, form)
	for _, f := range families {
		if err := encoder.Encode(f); err != nil {
			t.Fatal(err)
		}
	}
	found := map[string]*dto.Metric{}
	decoder := expfmt.NewDecoder(&b, form)
	for {
		var f dto.MetricFamily
		if decoder.Decode(&f) != nil {
			break
		}
		for _, m := range f.Metric {
			name := strings.TrimPrefix(f.GetName(), "scopeview_")
			for _, l := range m.Label {
				name += " " + l.GetValue()
			}
			found[name] = m
		}
	}
	return found
}

func value(m *dto.Metric) float64 { return m.GetCounter().GetValue() + m.GetGauge().GetValue() }

func start(t *testing.T, opts ...scope.Option) {
	t.Helper()
	if err := scope.Start(t.TempDir()+string(filepath.Separator), opts...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { scope.Stop() })
}

// work records n scopes of each name.
func work(n int, names ...string) {
	for range n {
		for _, name := range names {
			scope.Task(name)()
		}
	}
}

// TestCounts: each ended scope is counted once, in the first scrape after its end,
// across successive recordings.
func TestCounts(t *testing.T) {
	s := newScraper(t, "a*,lock,-ax")
	if m := s.scrape(t); value(m["recording"]) != 0 || value(m["reading_behind"]) != 0 {
		t.Errorf("without a recording %v", m)
	}
	start(t)
	work(100, "a1", "a2", "ax", "b")
	open := scope.Begin("a1")
	ctx, linked := scope.Context(context.Background(), "a-linked")
	link, _ := scope.LinkOf(ctx)
	linked.End()
	var mu sync.Mutex
	scope.Lock(&mu, "lock")()
	m := s.scrape(t)
	for name, want := range map[string]uint64{"a1 task": 100, "a2 task": 100, "a-linked task": 1, "hold lock": 1} {
		// Labels are in alphabetic order: kind, then name.
		f := strings.Fields(name)
		key := "scope_duration_seconds task " + f[0]
		if f[0] == "hold" {
			key = "scope_duration_seconds hold lock"
		}
		if got := m[key].GetHistogram().GetSampleCount(); got != want {
			t.Errorf("%s: %d, want %d", key, got, want)
		}
	}
	if m["scope_duration_seconds task ax"] != nil || m["scope_duration_seconds task b"] != nil {
		t.Error("names that are not chosen are there")
	}
	x := m["scope_duration_seconds task a-linked"].GetHistogram().GetExemplars()
	if len(x) != 1 || x[0].Label[0].GetValue() != hex.EncodeToString(link.Trace[:]) {
		t.Errorf("the exemplars are %v", x)
	}
	h := m["scope_duration_seconds task a1"].GetHistogram()
	if len(h.Bucket) != 0 || h.GetSchema() < 2 || len(h.PositiveSpan) == 0 && h.GetZeroCount() == 0 {
		t.Errorf("it is no native histogram: %v", h)
	}
	if got := value(m["records_total"]); got < 402 || value(m["recording"]) != 1 || value(m["unread_chunks_total"]) != 0 || value(m["reading_errors_total"]) != 0 {
		t.Errorf("%v records", got)
	}
	for _, reason := range []string{"window", "limit", "space", "io", "busy", "stop", "ends", "stacks", "opens"} {
		if c := m["lost_records_total "+reason]; c == nil || value(c) != 0 {
			t.Errorf("lost for %s: %v", reason, c)
		}
	}

	open.End()
	work(5, "a1")
	if err := scope.Stop(); err != nil {
		t.Fatal(err)
	}
	count := func(m map[string]*dto.Metric) uint64 {
		return m["scope_duration_seconds task a1"].GetHistogram().GetSampleCount()
	}
	if got := count(s.scrape(t)); got != 106 {
		t.Errorf("after the end it is %d", got)
	}
	if got := count(s.scrape(t)); got != 106 {
		t.Errorf("and then %d", got)
	}
	start(t)
	work(7, "a1")
	scope.Stop()
	if got := count(s.scrape(t)); got != 113 {
		t.Errorf("with another recording, which is over, it is %d", got)
	}
	start(t)
	work(1, "a1")
	path := scope.Path()
	s.scrape(t)
	scope.Stop()
	s.scrape(t)
	if err := scope.Start(path, scope.WithOverwrite()); err != nil {
		t.Fatal(err)
	}
	work(2, "a1")
	if got := count(s.scrape(t)); got != 116 {
		t.Errorf("with one in its place it is %d", got)
	}
}

// TestSum: the durations are in seconds.
func TestSum(t *testing.T) {
	s := newScraper(t, "*")
	start(t)
	before := time.Now()
	end := scope.Task("a")
	from := time.Now()
	for time.Since(from) < 20*time.Millisecond {
	}
	least := time.Since(from)
	end()
	most := time.Since(before)
	got := s.scrape(t)["scope_duration_seconds task a"].GetHistogram().GetSampleSum()
	if got < 0.9*least.Seconds() || got > 1.1*most.Seconds() { // the clocks differ
		t.Errorf("%v s, between %v and %v", got, least, most)
	}
}

// TestRing: the chunks that a ring overwrote before a scrape are counted.
func TestRing(t *testing.T) {
	s := newScraper(t, "*")
	start(t, scope.WithRing(4<<20))
	work(10, "a")
	s.scrape(t)
	before := scope.Stats()
	for deadline := time.Now().Add(20 * time.Second); scope.Stats().Overwritten < 200_000; {
		if time.Now().After(deadline) {
			t.Fatal("nothing is overwritten")
		}
		work(10_000, "a")
	}
	m := s.scrape(t)
	all := scope.Stats()
	got := int64(m["scope_duration_seconds task a"].GetHistogram().GetSampleCount())
	if unread := value(m["unread_chunks_total"]); unread == 0 || got >= all.Recorded+all.Overwritten || got <= before.Recorded {
		t.Errorf("%d of %d, %v chunks unread", got, all.Recorded+all.Overwritten, unread)
	}
	if n := int64(value(m["records_total"])); n < 200_000 || n > all.Recorded+all.Overwritten { // a counter never decreases
		t.Errorf("records_total is %d, of %+v", n, all)
	}
}

// TestBehind: a scrape that runs out of time continues in the next one, and loses
// nothing.
func TestBehind(t *testing.T) {
	s := newScraper(t, "*")
	scopeprom.Budget(s.Collector, 0)
	start(t)
	work(1000, "a")
	last := uint64(0)
	for i := range 10 {
		m := s.scrape(t)
		got := m["scope_duration_seconds task a"].GetHistogram().GetSampleCount()
		if got == 1000 {
			if value(m["reading_behind"]) == 0 && i > 1 {
				return
			}
			continue
		}
		if got <= last || value(m["reading_behind"]) != 1 {
			t.Fatalf("scrape %d has %d, behind it %d: %v", i, got, last, m["reading_behind"])
		}
		last = got
	}
	t.Errorf("it did not come to the end: %d", last)
}

// TestHostileNames: labels may have any text, and their number is limited.
func TestHostileNames(t *testing.T) {
	s := newScraper(t, "*")
	start(t)
	work(1, "\xff\"\n{}")
	for i := range 1500 {
		work(1, fmt.Sprint("name ", i))
	}
	m := s.scrape(t)
	n, all := 0, uint64(0)
	for name, x := range m {
		if strings.HasPrefix(name, "scope_duration_seconds") {
			n++
			all += x.GetHistogram().GetSampleCount()
		}
	}
	if n != 1001 || all != 1501 || m["scope_duration_seconds task \ufffd\"\n{}"] == nil {
		t.Errorf("%d names, %d scopes", n, all)
	}
}

// TestText: the text format, which has no native histograms, has all other metrics.
func TestText(t *testing.T) {
	s := newScraper(t, "a")
	start(t)
	work(3, "a")
	families, err := s.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	for _, f := range families {
		if _, err := expfmt.MetricFamilyToText(&b, f); err != nil {
			t.Fatal(err)
		}
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	parsed, err := parser.TextToMetricFamilies(&b)
	if err != nil {
		t.Fatal(err)
	}
	if got := parsed["scopeview_scope_duration_seconds"].GetMetric()[0].GetHistogram().GetSampleCount(); got != 3 {
		t.Errorf("%d scopes", got)
	}
}

func TestNewCollector(t *testing.T) {
	if _, err := scopeprom.NewCollector(strings.Repeat("a,", 5000)); err == nil {
		t.Error("a list of names that is too long was taken")
	}
	s := newScraper(t, "")
	start(t)
	work(3, "a")
	m := s.scrape(t)
	if m["scope_duration_seconds task a"] != nil || m["reading_behind"] != nil || m["records_total"] == nil {
		t.Errorf("without names it is %v", m)
	}
}

func BenchmarkScrape(b *testing.B) {
	c, err := scopeprom.NewCollector("*")
	if err != nil {
		b.Fatal(err)
	}
	scopeprom.Budget(c, time.Hour)
	if err := scope.Start(b.TempDir() + string(filepath.Separator)); err != nil {
		b.Fatal(err)
	}
	defer scope.Stop()
	r := prometheus.NewRegistry()
	r.MustRegister(c)
	for b.Loop() {
		b.StopTimer()
		work(100_000, "a")
		b.StartTimer()
		if _, err := r.Gather(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(100_000*float64(b.N)/b.Elapsed().Seconds(), "scopes/s")
}
