// shared_hot is in a library of its own.
long shared_hot(long n) {
	volatile long s = 0;
	for (long i = 0; i < n; i++)
		s += i % 7;
	return s;
}
