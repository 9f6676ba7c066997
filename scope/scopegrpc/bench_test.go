//go:build !scope_off

package scopegrpc_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"google.golang.org/grpc/stats"

	"github.com/scopeview/scopeview/scope"
	"github.com/scopeview/scopeview/scope/scopegrpc"
)

// BenchmarkCall measures what each handler adds to a call, without gRPC.
func BenchmarkCall(b *testing.B) {
	for _, recording := range []bool{false, true} {
		for name, h := range map[string]stats.Handler{"server": scopegrpc.ServerHandler(), "client": scopegrpc.ClientHandler()} {
			b.Run(fmt.Sprintf("%s, recording %t", name, recording), func(b *testing.B) {
				if recording {
					if err := scope.Start(b.TempDir()+string(filepath.Separator), scope.WithRing(16<<20)); err != nil {
						b.Fatal(err)
					}
					defer scope.Stop()
				}
				info := &stats.RPCTagInfo{FullMethodName: "/test.Shop/Add"}
				begin, in, out, end := &stats.Begin{}, &stats.InPayload{WireLength: 9}, &stats.OutPayload{WireLength: 9}, &stats.End{}
				b.ReportAllocs()
				for b.Loop() {
					ctx := h.TagRPC(b.Context(), info)
					h.HandleRPC(ctx, begin)
					h.HandleRPC(ctx, in)
					h.HandleRPC(ctx, out)
					h.HandleRPC(ctx, end)
				}
			})
		}
	}
}
