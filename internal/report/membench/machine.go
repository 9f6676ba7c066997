package membench

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/scopeview/scopeview/internal/show"
)

// facts are the known properties of the machine; zero if not known.
type facts struct {
	cpu   string
	cache int64 // bytes of the last level
	free  int64 // bytes of available memory
}

// machine reads procfs and sysfs. On systems without them it knows nothing.
func machine() (m facts) {
	m.cpu = field("/proc/cpuinfo", "model name")
	if kb, ok := strings.CutSuffix(field("/proc/meminfo", "MemAvailable"), " kB"); ok {
		n, _ := strconv.ParseInt(kb, 10, 64)
		m.free = n << 10
	}
	for _, group := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		b, err := os.ReadFile(group)
		if n, bad := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64); err == nil && bad == nil && n > 0 && (m.free == 0 || n < m.free) {
			m.free = n
		}
	}
	sizes, _ := filepath.Glob("/sys/devices/system/cpu/cpu0/cache/index*/size")
	for _, path := range sizes {
		b, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		if n, ok := parseSize(strings.TrimSpace(string(b))); ok {
			m.cache = max(m.cache, n)
		}
	}
	return m
}

// field returns the value of the first line of a file with that key before its colon.
func field(path, key string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if k, v, ok := strings.Cut(s.Text(), ":"); ok && strings.TrimSpace(k) == key {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

// parseSize reads 32K, 260M.
func parseSize(s string) (int64, bool) {
	shift := 0
	switch {
	case strings.HasSuffix(s, "K"):
		shift = 10
	case strings.HasSuffix(s, "M"):
		shift = 20
	}
	if shift > 0 {
		s = s[:len(s)-1]
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n << shift, err == nil && n > 0 && n < 1<<40
}

// fallback is the minimum size of all arrays together, in bytes, and their size if the cache's is
// not known.
const fallback = 256 << 20

// arrays returns the size of all arrays together, in bytes, and why the numbers may be wrong.
func arrays(wanted int64, m facts, cores int) (bytes int64, doubt string) {
	bytes = wanted
	if bytes <= 0 {
		bytes = fallback
		if m.cache > 0 {
			bytes = max(4*m.cache, fallback)
		}
		if m.free > 0 {
			bytes = min(bytes, m.free/4)
		}
	}
	// Three arrays for each core, of at least one block: otherwise there is nothing to go through.
	bytes = max(bytes, int64(cores)*3*block*8)
	switch {
	case m.cache == 0:
		doubt = "the size of the last-level cache is not known, so the arrays may fit in it"
	case bytes < 2*m.cache:
		doubt = fmt.Sprintf("the arrays (%s) are not much larger than the last-level cache (%s): memory may be slower than measured", show.Size(bytes), show.Size(m.cache))
	}
	return bytes, doubt
}
