package traces

// Build writes a trace of 400 scopes each of get, put and scan, on a row each. Those of get
// are longer by percent; the rest is the same for all values.
func Build(path string, longer int64) error {
	const us = 1000
	return write(path, 400*2000*us, []string{"get", "put", "scan"}, func(record func(string, ...any)) {
		for i := range int64(400) {
			for g, name := range []string{"get", "put", "scan"} {
				dur := (900 + (i*int64(37+g))%200) * us
				if name == "get" {
					dur += dur * longer / 100
				}
				start := (i*2000 + 1) * us
				record(`task %q g=%d start=%d stop=%d cpu=0/unknown`, name, g+1, start, start+dur)
			}
		}
	})
}
