package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends what does not end by itself
	code := execute(ctx, standardStreams(), os.Args[1:])
	stop()
	os.Exit(code)
}
