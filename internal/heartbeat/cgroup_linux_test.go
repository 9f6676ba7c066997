package heartbeat

import (
	"maps"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
)

const absent = -1

const (
	mountV2     = "30 20 0:26 / ROOT/cg rw,relatime shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
	mountCPU    = "33 31 0:30 / ROOT/cg/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct\n"
	mountMemory = "35 31 0:32 / ROOT/cg/memory rw,relatime - cgroup cgroup rw,memory\n"
	mountHybrid = "41 31 0:38 / ROOT/cg/unified rw,relatime - cgroup2 cgroup2 rw\n"
	linesV1     = "5:cpu,cpuacct:/svc/web\n4:memory:/svc/web\n1:name=systemd:/x\n"
)

func TestLimits(t *testing.T) {
	for _, c := range []struct {
		name           string
		cgroup, mounts string
		files          map[string]string
		cpu, mem       int64
		errs           int
	}{
		{
			name: "version 2, the stricter of two levels", cgroup: "0::/svc/web\n", mounts: mountV2,
			files: map[string]string{
				"cg/svc/web/cpu.max": "250000 100000\n", "cg/svc/web/memory.max": "max\n",
				"cg/svc/cpu.max": "150000 100000\n", "cg/svc/memory.max": "1073741824\n",
			},
			cpu: 1500, mem: 1 << 30,
		},
		{
			name: "version 2, no limit", cgroup: "0::/svc\n", mounts: mountV2,
			files: map[string]string{"cg/svc/cpu.max": "max 100000\n", "cg/svc/memory.max": "max\n"},
			cpu:   absent, mem: absent,
		},
		{
			name: "version 2, container whose namespace hides what is above", cgroup: "0::/\n", mounts: mountV2,
			files: map[string]string{"cg/cpu.max": "50000 100000\n", "cg/memory.max": "4096\n"},
			cpu:   500, mem: 4096,
		},
		{
			name: "version 1", cgroup: linesV1, mounts: mountCPU + mountMemory,
			files: map[string]string{
				"cg/cpu,cpuacct/svc/web/cpu.cfs_quota_us": "-1\n", "cg/cpu,cpuacct/svc/web/cpu.cfs_period_us": "100000\n",
				"cg/cpu,cpuacct/svc/cpu.cfs_quota_us": "33333\n", "cg/cpu,cpuacct/svc/cpu.cfs_period_us": "100000\n",
				"cg/memory/svc/web/memory.limit_in_bytes": "2097152\n",
				"cg/memory/memory.limit_in_bytes":         "9223372036854771712\n",
			},
			cpu: 333, mem: 2 << 20,
		},
		{
			name: "version 1, container without a cgroup namespace", cgroup: "5:cpu:/docker/abc\n4:memory:/docker/abc\n",
			mounts: "33 31 0:30 /docker/abc ROOT/cg/cpu ro - cgroup cgroup rw,cpu\n" +
				"35 31 0:32 /docker/abc ROOT/cg/memory ro - cgroup cgroup rw,memory\n",
			files: map[string]string{
				"cg/cpu/cpu.cfs_quota_us": "200000\n", "cg/cpu/cpu.cfs_period_us": "100000\n",
				"cg/memory/memory.limit_in_bytes": "1048576\n",
			},
			cpu: 2000, mem: 1 << 20,
		},
		{
			name: "hybrid: CPU by version 1, memory by version 2", cgroup: "0::/svc\n5:cpu,cpuacct:/svc\n", mounts: mountHybrid + mountCPU,
			files: map[string]string{
				"cg/cpu,cpuacct/svc/cpu.cfs_quota_us": "400000\n", "cg/cpu,cpuacct/svc/cpu.cfs_period_us": "100000\n",
				"cg/unified/svc/memory.max": "8192\n", "cg/unified/svc/cpu.max": "1 100000\n",
			},
			cpu: 4000, mem: 8192,
		},
		{
			name: "malformed files", cgroup: "0::/svc\n", mounts: mountV2,
			files: map[string]string{"cg/svc/cpu.max": "much 100000\n", "cg/svc/memory.max": "\n"},
			cpu:   absent, mem: absent, errs: 2,
		},
		{
			name: "a period of zero and a negative limit", cgroup: "0::/svc\n", mounts: mountV2,
			files: map[string]string{"cg/svc/cpu.max": "100 0\n", "cg/svc/memory.max": "-5\n"},
			cpu:   absent, mem: absent, errs: 2,
		},
		{
			name: "outside of what is mounted", cgroup: "0::/../other\n", mounts: mountV2,
			cpu: absent, mem: absent, errs: 2,
		},
		{
			name: "a name that only begins like the mount's root", cgroup: "0::/docker/abcdef\n",
			mounts: "30 20 0:26 /docker/abc ROOT/cg rw - cgroup2 cgroup2 rw\n",
			files:  map[string]string{"cg/cpu.max": "1000 1000\n", "cg/memory.max": "1\n"},
			cpu:    absent, mem: absent, errs: 2,
		},
		{
			name: "in no cgroup of these controllers", cgroup: "1:name=systemd:/\n", mounts: mountCPU,
			cpu: absent, mem: absent, errs: 2,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := map[string]string{"proc/42/cgroup": c.cgroup, "proc/42/mountinfo": c.mounts}
			maps.Copy(files, c.files)
			s, _ := sampleAt(fakeProc(t, files))
			var b beat
			s.process.limits.read(&b)
			for f, want := range map[format.Field]int64{format.FieldCPULimit: c.cpu, format.FieldMemLimit: c.mem} {
				v, ok := fieldOf(b.values, f)
				if !ok {
					v = absent
				}
				if v != want {
					t.Errorf("%v = %d, want %d", f, v, want)
				}
			}
			if len(b.errs) != c.errs {
				t.Errorf("%d errors, want %d: %v", len(b.errs), c.errs, b.errs)
			}
		})
	}
}

func TestMemoryLeft(t *testing.T) {
	const v1 = "4:memory:/svc/web\n"
	for _, c := range []struct {
		name           string
		cgroup, mounts string
		files          map[string]string
		want           int64
	}{
		{
			name: "version 2: what is not in use counts, and half of what is", cgroup: "0::/svc\n", mounts: mountV2,
			files: map[string]string{
				"cg/svc/memory.max": "1000\n", "cg/svc/memory.high": "max\n", "cg/svc/memory.current": "700\n",
				"cg/svc/memory.stat": "anon 300\nfile 400\nshmem 100\ninactive_file 200\nactive_file 100\n",
			},
			want: 1000 - 700 + 200 + 50,
		},
		{
			name: "version 2: beyond memory.high the program would wait", cgroup: "0::/svc\n", mounts: mountV2,
			files: map[string]string{"cg/svc/memory.max": "1000\n", "cg/svc/memory.high": "800\n", "cg/svc/memory.current": "700\n"},
			want:  100,
		},
		{
			name: "version 2: the level that leaves least", cgroup: "0::/svc/web\n", mounts: mountV2,
			files: map[string]string{
				"cg/svc/web/memory.max": "1000\n", "cg/svc/web/memory.current": "100\n",
				"cg/svc/memory.max": "2000\n", "cg/svc/memory.current": "1990\n",
			},
			want: 10,
		},
		{
			name: "version 1, more in use than allowed", cgroup: v1, mounts: mountMemory,
			files: map[string]string{
				"cg/memory/svc/web/memory.limit_in_bytes": "1000\n", "cg/memory/svc/web/memory.usage_in_bytes": "1300\n",
				"cg/memory/svc/web/memory.stat": "inactive_file 7\nactive_file 8\ntotal_inactive_file 100\ntotal_active_file 20\n",
			},
			want: 1000 - 1300 + 100 + 10,
		},
		{
			name: "no limit", cgroup: "0::/svc\n", mounts: mountV2,
			files: map[string]string{"cg/svc/memory.max": "max\n", "cg/svc/memory.current": "700\n"},
			want:  noLimit,
		},
		{
			name: "a limit, and nobody knows how much is in use", cgroup: "0::/svc\n", mounts: mountV2,
			files: map[string]string{"cg/svc/memory.max": "1000\n"},
			want:  noLimit,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := map[string]string{"proc/42/cgroup": c.cgroup, "proc/42/mountinfo": c.mounts}
			maps.Copy(files, c.files)
			s, _ := sampleAt(fakeProc(t, files))
			var b beat
			if s.process.limits.read(&b); b.left != c.want {
				t.Errorf("%d are left, want %d", b.left, c.want)
			}
		})
	}
}

func TestThreadsLeft(t *testing.T) {
	const v1 = "8:pids:/svc\n"
	mountPids := "36 31 0:33 / ROOT/cg/pids rw,relatime - cgroup cgroup rw,pids\n"
	for _, c := range []struct {
		name           string
		cgroup, mounts string
		files          map[string]string
		want           int64
	}{
		{"version 2: the level that leaves least", "0::/svc/web\n", mountV2, map[string]string{
			"cg/svc/web/pids.max": "max\n", "cg/svc/web/pids.current": "7\n", "cg/svc/pids.max": "20\n", "cg/svc/pids.current": "17\n",
		}, 3},
		{"version 1", v1, mountPids, map[string]string{"cg/pids/svc/pids.max": "9\n", "cg/pids/svc/pids.current": "7\n"}, 2},
		{"more than allowed", v1, mountPids, map[string]string{"cg/pids/svc/pids.max": "5\n", "cg/pids/svc/pids.current": "7\n"}, -2},
		{"no limit", v1, mountPids, map[string]string{"cg/pids/svc/pids.max": "max\n", "cg/pids/svc/pids.current": "7\n"}, noLimit},
		{"malformed", v1, mountPids, map[string]string{"cg/pids/svc/pids.max": "few\n", "cg/pids/svc/pids.current": "7\n"}, noLimit},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := map[string]string{"proc/42/cgroup": c.cgroup, "proc/42/mountinfo": c.mounts}
			maps.Copy(files, c.files)
			s, _ := sampleAt(fakeProc(t, files))
			s.process.limits.init(s.process.proc) // the first beat is over
			b := beat{free: noLimit}
			if s.process.limits.read(&b); b.free != c.want {
				t.Errorf("%d are left, want %d", b.free, c.want)
			}
		})
	}
}
