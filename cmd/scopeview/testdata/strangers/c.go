//go:build cgo

package main

/*
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

extern int goBack(int);
static int goBackOf(int n) { return goBack(n); }

static volatile unsigned long spun;
static void spin(long n) { for (long i = 0; i < n; i++) spun++; }

// interrupted waits as C code does that asks for no EINTR, and returns how often it got one.
static int interrupted(int n) {
	int got = 0;
	for (int i = 0; i < n; i++) {
		spin(20000);
		if (poll(0, 0, 1) < 0 && errno == EINTR) got++;
		struct timespec t = {0, 100000};
		if (nanosleep(&t, 0) < 0 && errno == EINTR) got++;
	}
	return got;
}

// blocked has SIGPROF blocked while it uses CPU time and calls back, and returns whether it still is.
static int blocked(int n) {
	sigset_t s, old, now;
	sigemptyset(&s);
	sigaddset(&s, SIGPROF);
	pthread_sigmask(SIG_BLOCK, &s, &old);
	for (int i = 0; i < n; i++) { spin(1000000); goBack(i); }
	pthread_sigmask(SIG_SETMASK, &old, &now);
	return sigismember(&now, SIGPROF);
}

static void *calls(void *n) {
	intptr_t sum = 0;
	for (intptr_t i = 0; i < (intptr_t)n; i++) { spin(10000); sum += goBack(1); }
	return (void *)sum;
}

// threads has C threads call back, some of which block SIGPROF or all signals, and end.
static long threads(int count, int n) {
	long sum = 0;
	for (int i = 0; i < count; i++) {
		pthread_t t[3];
		sigset_t s, old;
		for (int k = 0; k < 3; k++) {
			sigfillset(&s);
			if (k == 1) { sigemptyset(&s); sigaddset(&s, SIGPROF); }
			pthread_sigmask(k ? SIG_BLOCK : SIG_SETMASK, &s, &old);
			if (k == 0) pthread_sigmask(SIG_SETMASK, &old, 0);
			pthread_create(&t[k], 0, calls, (void *)(intptr_t)n);
			pthread_sigmask(SIG_SETMASK, &old, 0);
		}
		for (int k = 0; k < 3; k++) { void *r; pthread_join(t[k], &r); sum += (intptr_t)r; }
	}
	return sum;
}

static volatile int handled;
static void handler(int n) { handled++; }

// handles takes SIGPROF for itself with a timer of its own, as C libraries with a profiler do, and gives it back.
static int handles(void) {
	struct sigaction mine, old;
	mine.sa_handler = handler;
	mine.sa_flags = SA_RESTART | SA_ONSTACK;
	sigemptyset(&mine.sa_mask);
	sigaction(SIGPROF, &mine, &old);
	raise(SIGPROF);
	raise(SIGPROF);
	sigaction(SIGPROF, &old, 0);
	return handled >= 2;
}
*/
import "C"

import (
	"fmt"
	"os"
	"runtime"
)

func init() {
	cases["interrupted"] = func() {
		n := C.interrupted(200)
		fmt.Fprintln(os.Stderr, "interrupted:", n)
	}
	cases["blocked"] = func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		fmt.Println("still blocked", C.blocked(20) == 1)
	}
	cases["threads"] = func() { fmt.Println(C.threads(8, 40)) }
	cases["handles"] = func() { fmt.Println("handled", C.handles()) }
	cases["through"] = func() {
		n := 0
		for range 500 {
			func() {
				defer func() { runtime.Gosched(); _ = recover(); n++ }()
				C.goBackOf(-1)
			}()
		}
		fmt.Println(n)
	}
}

//export goBack
func goBack(n C.int) C.int {
	if n < 0 {
		panic("on purpose")
	}
	work()
	return n
}
