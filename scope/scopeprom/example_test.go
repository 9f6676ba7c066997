//go:build !scope_off

package scopeprom_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/scopeview/scopeview/scope"
	"github.com/scopeview/scopeview/scope/scopeprom"
)

func ExampleNewCollector() {
	dir, err := os.MkdirTemp("", "traces")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	if err := scope.Start(filepath.Join(dir, "prom.scope")); err != nil {
		fmt.Println(err)
		return
	}
	defer scope.Stop()

	c, err := scopeprom.NewCollector("checkout")
	if err != nil {
		fmt.Println(err)
		return
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(c) // and http.Handle("/metrics", promhttp.HandlerFor(registry, …))

	scope.Task("checkout")()
	families, err := registry.Gather()
	for _, f := range families {
		if f.GetName() == "scopeview_scope_duration_seconds" {
			fmt.Println(f.GetMetric()[0].GetHistogram().GetSampleCount(), "checkout")
		}
	}
	fmt.Println(err)
	// Output:
	// 1 checkout
	// <nil>
}
