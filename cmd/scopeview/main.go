// Command scopeview looks at traces: what programs that import scope leave.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := execute(ctx, standardStreams(), os.Args[1:])
	stop()
	os.Exit(code)
}
