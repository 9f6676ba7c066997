package rows

import (
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// Gauge is a graph of the process's values in the heartbeats.
type Gauge struct {
	Name   string
	Bytes  bool
	Series []string

	fields []format.Field
}

// Gauges are the graphs. CPU is the average number of processors in use from its time to the
// next beat.
var Gauges = []*Gauge{
	{Name: "CPU (cores)", Series: []string{"user", "system"}, fields: []format.Field{format.FieldUser, format.FieldSystem}},
	{Name: "RSS", Bytes: true, Series: []string{"rss"}, fields: []format.Field{format.FieldRSS}},
	{Name: "heap", Bytes: true, Series: []string{"heap"}, fields: []format.Field{format.FieldHeap}},
	{Name: "goroutines", Series: []string{"goroutines"}, fields: []format.Field{format.FieldGoroutines}},
}

// pulse is the CPU time at a beat.
type pulse struct {
	time  int64
	cpu   [2]int64
	known bool
}

// gauges passes a beat's values to the sink. A viewer draws a value from its time to the
// next one's, and the CPU time is known for the stretch before a beat: so it is passed with
// the time of the beat before.
func (l *layout) gauges(b *trace.Beat) {
	cpu, others := Gauges[0], Gauges[1:]
	var v [2]int64
	known := true
	for i, f := range cpu.fields {
		var ok bool
		v[i], ok = b.Value(f)
		known = known && ok
	}
	p := &l.before
	if d := float64(b.Time - p.time); known && p.known && d > 0 && v[0] >= p.cpu[0] && v[1] >= p.cpu[1] {
		l.sink.Gauge(cpu, p.time, []float64{float64(v[0]-p.cpu[0]) / d, float64(v[1]-p.cpu[1]) / d})
	}
	p.time, p.cpu, p.known = b.Time, v, known
	for _, g := range others {
		if v, ok := b.Value(g.fields[0]); ok {
			l.sink.Gauge(g, b.Time, []float64{float64(v)})
		}
	}
}
