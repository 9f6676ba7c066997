package heartbeat

import (
	"testing"

	"github.com/scopeview/scopeview/internal/format"
)

// TestWhoTookTheCPUs: a beat has the CPU time of the whole machine, and how long the
// cgroup's limit kept the program off the CPUs.
func TestWhoTookTheCPUs(t *testing.T) {
	const stat = "cpu  100 1 20 5000 70 3 4 50 9 0\ncpu0 100 1 20 5000 70 3 4 50 9 0\nintr 1 2\n"
	for _, c := range []struct {
		name                   string
		cgroup, mounts         string
		files                  map[string]string
		busy, steal, throttled int64
	}{
		{"version 2, the level where it is most", "0::/svc/web\n", mountV2,
			map[string]string{"cg/svc/web/cpu.stat": "usage_usec 5\nnr_throttled 2\nthrottled_usec 250\n", "cg/svc/cpu.stat": "throttled_usec 7000\n"},
			1280_000_000, 500_000_000, 7_000_000},
		{"version 1", linesV1, mountCPU, map[string]string{"cg/cpu,cpuacct/svc/web/cpu.stat": "nr_periods 3\nnr_throttled 1\nthrottled_time 12345\n"},
			1280_000_000, 500_000_000, 12345},
		{"no limit anywhere", "0::/svc\n", mountV2, map[string]string{"cg/svc/cpu.stat": "usage_usec 5\n"}, 1280_000_000, 500_000_000, absent},
		{"malformed", "0::/svc\n", mountV2, map[string]string{"cg/svc/cpu.stat": "throttled_usec -4\n", "proc/stat": "cpu 1 2 3 x 5 6 7 8\n"}, absent, absent, absent},
		{"an old kernel", "0::/svc\n", mountV2, map[string]string{"proc/stat": "cpu  1 2 3 4\n"}, absent, absent, absent},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := map[string]string{"proc/42/cgroup": c.cgroup, "proc/42/mountinfo": c.mounts, "proc/stat": stat}
			for name, text := range c.files {
				files[name] = text
			}
			_, b := sampleAt(fakeProc(t, files))
			for f, want := range map[format.Field]int64{format.FieldMachineBusy: c.busy, format.FieldSteal: c.steal, format.FieldThrottled: c.throttled} {
				v, ok := fieldOf(b.values, f)
				if !ok {
					v = absent
				}
				if v != want {
					t.Errorf("%v = %d, want %d", f, v, want)
				}
			}
		})
	}
}
