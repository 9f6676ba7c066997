package symbols

// cfiMachine executes instructions of call frame information.
type cfiMachine struct {
	*cfi
	entry *cfiEntry
	now   *cfiRules
	first cfiRules // the rules restored by DW_CFA_restore
	saved []cfiRules
}

// mostSaved limits the number of saved rules.
const mostSaved = 64

// execute executes instructions, and reports whether all are known.
func (x *cfiMachine) execute(code []byte, visit func(from uint64, now cfiRules)) bool {
	r := reader{b: code, order: x.order}
	loc := x.entry.from
	emit := func() {
		if visit != nil {
			visit(loc, *x.now)
		}
	}
	advance := func(n uint64) {
		emit()
		loc += n * x.entry.common.codeUnit
	}
	for len(r.b) > 0 && !r.bad {
		op := r.byte()
		switch low := uint64(op & 0x3f); {
		case op>>6 == 1:
			advance(low)
		case op>>6 == 2:
			x.keep(low, int64(r.uleb())*x.entry.common.dataUnit)
		case op>>6 == 3:
			x.restore(low)
		case op == 2:
			advance(uint64(r.byte()))
		case op == 3:
			if b := r.take(2); b != nil {
				advance(uint64(x.order.Uint16(b)))
			}
		case op == 4:
			if b := r.take(4); b != nil {
				advance(uint64(x.order.Uint32(b)))
			}
		case !x.register(op, &r):
			return false
		}
	}
	emit()
	return !r.bad
}

// register executes an instruction that does not advance the address; it reports
// whether it is known.
func (x *cfiMachine) register(op byte, r *reader) bool {
	unit := x.entry.common.dataUnit
	switch op {
	case 0x00, 0x2d: // nop, AARCH64_negate_ra_state
	case 0x05: // offset_extended
		n := r.uleb()
		x.keep(n, int64(r.uleb())*unit)
	case 0x11: // offset_extended_sf
		n := r.uleb()
		x.keep(n, r.sleb()*unit)
	case 0x06: // restore_extended
		x.restore(r.uleb())
	case 0x07: // undefined
		if r.uleb() == x.entry.common.returns {
			x.now.undefined = true
		}
	case 0x08: // same_value
		x.keep(r.uleb(), 0)
	case 0x0a: // remember_state
		x.saved = append(x.saved, *x.now)
		return len(x.saved) <= mostSaved
	case 0x0b: // restore_state
		if len(x.saved) == 0 {
			return false
		}
		*x.now = x.saved[len(x.saved)-1]
		x.saved = x.saved[:len(x.saved)-1]
	case 0x0c, 0x12: // def_cfa, def_cfa_sf
		x.now.base, x.now.computed = r.uleb(), false
		x.now.offset = x.offset(op == 0x12, r)
	case 0x0d: // def_cfa_register
		x.now.base, x.now.computed = r.uleb(), false
	case 0x0e, 0x13: // def_cfa_offset, def_cfa_offset_sf
		x.now.offset = x.offset(op == 0x13, r)
	case 0x0f: // def_cfa_expression
		r.take(int(min(r.uleb(), 1<<30)))
		x.now.computed = true
	case 0x10, 0x16: // expression, val_expression
		n := r.uleb()
		r.take(int(min(r.uleb(), 1<<30)))
		x.lost(n)
	case 0x09, 0x14: // register, val_offset
		n := r.uleb()
		r.uleb()
		x.lost(n)
	case 0x15: // val_offset_sf
		n := r.uleb()
		r.sleb()
		x.lost(n)
	case 0x2e: // GNU_args_size
		r.uleb()
	default:
		return false
	}
	return true
}

// offset reads an offset; a signed one is in data units.
func (x *cfiMachine) offset(signed bool, r *reader) int64 {
	if signed {
		return r.sleb() * x.entry.common.dataUnit
	}
	return int64(r.uleb())
}

// keep records where the caller's value of a register is stored; 0: in the register.
func (x *cfiMachine) keep(register uint64, at int64) {
	_, pointer := x.registers()
	switch register {
	case pointer:
		x.now.pointer = at
	case x.entry.common.returns:
		x.now.returns = at
	}
}

// lost records that a register's value is found in an unsupported way.
func (x *cfiMachine) lost(register uint64) {
	_, pointer := x.registers()
	if register == pointer || register == x.entry.common.returns {
		x.now.computed = true
	}
}

func (x *cfiMachine) restore(register uint64) {
	_, pointer := x.registers()
	switch register {
	case pointer:
		x.now.pointer = x.first.pointer
	case x.entry.common.returns:
		x.now.returns, x.now.undefined = x.first.returns, x.first.undefined
	}
}
