package rows_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
)

type chromeFile struct {
	DisplayTimeUnit string            `json:"displayTimeUnit"`
	OtherData       map[string]string `json:"otherData"`
	TraceEvents     []chromeEvent     `json:"traceEvents"`
}

type chromeEvent struct {
	Phase string         `json:"ph"`
	PID   uint32         `json:"pid"`
	TID   uint32         `json:"tid"`
	TS    json.Number    `json:"ts"`
	Dur   json.Number    `json:"dur"`
	TDur  json.Number    `json:"tdur"`
	Name  string         `json:"name"`
	Cat   string         `json:"cat"`
	ID    uint64         `json:"id"`
	BP    string         `json:"bp"`
	Args  map[string]any `json:"args"`
}

// readChrome reads a file as strictly as encoding/json does, and checks the invariants of
// every event.
func readChrome(t *testing.T, data []byte) *drawn {
	t.Helper()
	var f chromeFile
	if err := json.Unmarshal(data, &f); err != nil {
		t.Fatal(err)
	}
	d := &drawn{instants: map[string]int{}, counters: map[string]int{}, flows: map[string]int{}}
	names := map[uint32]string{}
	sent := map[string]chromeEvent{}
	byDoubles := map[string][]chromeEvent{}
	for _, e := range f.TraceEvents {
		name := unix(e.Name)
		row := strconv.Itoa(int(e.TID))
		if strings.Contains("Xi", e.Phase) && names[e.TID] == "" {
			t.Errorf("%v is on a row without a name", e)
		}
		switch e.Phase {
		case "X":
			s := slice{kind: e.Cat, name: name, row: row, start: nanos(t, e.TS)}
			s.end = s.start + nanos(t, e.Dur)
			if end := ends(t, e); int64(math.Round(end*1000)) != s.end {
				t.Errorf("%v ends at %v, as doubles have it", e, end)
			}
			byDoubles[row] = append(byDoubles[row], e)
			s.open, _ = e.Args["open"].(bool)
			d.slices = append(d.slices, s)
		case "i":
			d.instants[e.Cat+" "+name]++
		case "C":
			if e.Cat == "counter" {
				d.counters[name]++
			}
			if len(e.Args) == 0 {
				t.Errorf("a counter without a value: %v", e)
			}
		case "s":
			sent[fmt.Sprint(e.Cat, e.ID)] = e
		case "f":
			from, ok := sent[fmt.Sprint(e.Cat, e.ID)]
			if !ok || nanos(t, from.TS) > nanos(t, e.TS) || from.Name != e.Name {
				t.Errorf("flow %v comes from %v", e, from)
			}
			d.flows[e.Name]++
		case "M":
			if e.Name == "thread_name" {
				names[e.TID], _ = e.Args["name"].(string)
			}
		case "P": // see chromeSamples
		default:
			t.Errorf("phase %q", e.Phase)
		}
	}
	bound(t, f.TraceEvents)
	for row, list := range byDoubles {
		nestsInDoubles(t, row, list)
	}
	return d
}

func ends(t *testing.T, e chromeEvent) float64 {
	t.Helper()
	ts, err := e.TS.Float64()
	dur, err2 := e.Dur.Float64()
	if err != nil || err2 != nil {
		t.Errorf("%v: %v, %v", e, err, err2)
	}
	return ts + dur
}

// nestsInDoubles replays a row as readers do that compute ts + dur.
func nestsInDoubles(t *testing.T, row string, list []chromeEvent) {
	t.Helper()
	var stack []float64
	for _, e := range list {
		ts, _ := e.TS.Float64()
		for len(stack) > 0 && stack[len(stack)-1] <= ts {
			stack = stack[:len(stack)-1]
		}
		end := ends(t, e)
		if n := len(stack); n > 0 && stack[n-1] < end {
			t.Fatalf("row %s: %v overlaps what ends at %v", row, e, stack[n-1])
		}
		stack = append(stack, end)
	}
}

// bound checks that the ends of a lock's arrow lie in the hold and in the wait.
func bound(t *testing.T, all []chromeEvent) {
	t.Helper()
	for _, e := range all {
		if e.Cat != "lock" {
			continue
		}
		at, kind := nanos(t, e.TS), "hold"
		if e.Phase == "f" {
			kind = "wait"
		}
		if !slices.ContainsFunc(all, func(x chromeEvent) bool {
			return x.Phase == "X" && x.Cat == kind && x.TID == e.TID && nanos(t, x.TS) <= at && nanos(t, x.TS)+nanos(t, x.Dur) == at+1
		}) {
			t.Errorf("%v is at the end of no %s", e, kind)
		}
	}
}

// nanos reads microseconds, which must be a multiple of 1/4096, so that sums of them have no
// rounding error.
func nanos(t *testing.T, n json.Number) int64 {
	t.Helper()
	v, err := n.Float64()
	if err != nil || v*4096 != math.Trunc(v*4096) {
		t.Errorf("%q is no place of the grid", n)
	}
	return int64(math.Round(v * 1000))
}
