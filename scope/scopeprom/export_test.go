package scopeprom

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Budget sets how long a scrape of c reads the trace.
func Budget(c prometheus.Collector, d time.Duration) { c.(*collector).budget = d }
