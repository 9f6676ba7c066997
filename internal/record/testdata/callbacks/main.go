// Program callbacks runs threads of C code, one after another, that call back into
// Go, which records.
package main

/*
#include <pthread.h>

extern void called(int thread);

static void *run(void *p) {
	called((int)(long)p);
	return 0;
}

static void thread(int n) {
	pthread_t t;
	pthread_create(&t, 0, run, (void *)(long)n);
	pthread_join(t, 0);
}
*/
import "C"

import (
	"fmt"
	"os"

	"github.com/scopeview/scopeview/scope"
)

//export called
func called(thread C.int) {
	switch thread {
	case 1:
		scope.Track("first")
		scope.Task("a")()
	case 2:
		scope.Task("b")()
		scope.Track("second")
		scope.Task("c")()
	case 3:
		scope.Task("d")()
	}
}

func main() {
	backing := map[string]scope.BackingKind{"disk": scope.DiskBacking, "shm": scope.ShmBacking, "heap": scope.HeapBacking}[os.Args[2]]
	if err := scope.Start(os.Args[1], scope.WithBacking(backing)); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	for n := range 3 {
		C.thread(C.int(n + 1))
	}
	if err := scope.Stop(); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(scope.Path())
}
