package analysis

// table maps names to values. Names are small numbers, so it needs no hashing.
type table[V any] struct {
	at    []*V // by name; nil: no value
	names []uint16
	free  []*V
}

// get returns the value of a name, or nil.
func (t *table[V]) get(name uint16) *V {
	if int(name) < len(t.at) {
		return t.at[name]
	}
	return nil
}

// of returns the value of a name, and adds an empty one if there is none.
func (t *table[V]) of(name uint16) *V {
	if v := t.get(name); v != nil {
		return v
	}
	return t.add(name)
}

func (t *table[V]) add(name uint16) *V {
	if n := int(name) + 1; n > len(t.at) {
		t.at = append(t.at, make([]*V, n-len(t.at))...)
	}
	v := new(V)
	if n := len(t.free); n > 0 {
		v, t.free = t.free[n-1], t.free[:n-1]
	}
	t.at[name], t.names = v, append(t.names, name)
	return v
}

func (t *table[V]) each(f func(name uint16, v *V)) {
	for _, name := range t.names {
		f(name, t.at[name])
	}
}

// reset empties the table. It reuses the values, which reset must have cleared.
func (t *table[V]) reset(reset func(*V)) {
	t.each(func(name uint16, v *V) {
		reset(v)
		t.free, t.at[name] = append(t.free, v), nil
	})
	t.names = t.names[:0]
}
