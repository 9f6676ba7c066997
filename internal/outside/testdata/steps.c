#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define apart __attribute__((noinline, noclone))

static volatile int v;

apart int leaf(int i) { v++; return i * 7; }
apart int room(int i) { volatile char b[64]; b[i & 63] = 1; return leaf(b[i & 7]) + b[3]; }
apart int many(int a, int b, int c, int d, int e, int f) {
	int s = 0;
	for (int i = 0; i < 2; i++) s += leaf(a + i) * leaf(b - i) + leaf(c) * d + leaf(e) - f;
	return s;
}
apart int tail(int n) { v++; return leaf(n + 1); }
apart int vla(int n) { volatile char b[n + 1]; b[n] = 2; return leaf(b[n]); }
apart int deep(int n) { return n == 0 ? leaf(n) : deep(n - 1) + 1; }
apart int compare(const void *a, const void *b) { return leaf(*(const int *)a) - leaf(*(const int *)b); }
apart int sorted(void) { int l[] = {3, 1, 2}; qsort(l, 3, sizeof l[0], compare); return l[0]; }
apart int pointer(int (*f)(int), int n) { return f(n) + 1; }
apart int copied(int n) { char b[300]; memset(b, n, sizeof b); char *p = malloc(n + 20); memcpy(p, b, 20); int r = p[3]; free(p); return r; }

int main(void) {
	kill(getpid(), SIGSTOP);
	int s = 0;
	for (int i = 0; i < 100000; i++) {
		s += leaf(i) + room(i) + many(i, 1, 2, 3, 4, 5) + tail(i) + vla(i & 31) + deep(5) + sorted() + pointer(leaf, i) + pointer(tail, i) + copied(i & 63);
	}
	return s & 1;
}
