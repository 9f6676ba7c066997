#!/usr/bin/env python3
"""A reader of scopeview traces, written from docs/format.md and sharing no code
with the Go one: it prints the events of traces as internal/trace/text does, so
that a test can compare the two. It reads a whole trace into memory."""
import struct, sys

MAX = 1 << 60
KINDS = " task process event pending counter wait hold track go anchor end taskf".split(" ")
SPANS = {"task", "process", "wait", "hold", "taskf"}
SLOTS = " int uint float bool duration string type key loc goid user system addr begin cut".split(" ")
RING_NUMBERS, KEPT = 16773119, 1 << 24
TIMES = {2: 1, 3: 1, 4: 1, 6: 2, 7: 1, 8: 2, 9: 1, 12: 1, 13: 1, 16: 1}  # block type -> leading times


def crc32c(data):
    c = 0xFFFFFFFF
    for b in data:
        c ^= b
        for _ in range(8):
            c = c >> 1 ^ (0x82F63B78 if c & 1 else 0)
    return c ^ 0xFFFFFFFF


def u(data, at, size=8):
    return int.from_bytes(data[at:at + size], "little")


def i64(data, at):
    return int.from_bytes(data[at:at + 8], "little", signed=True)


def quote(text):
    """Quotes bytes as Go's %q does."""
    out = ""
    for ch in text.decode("utf-8", "surrogateescape"):
        if ch in '"\\\a\b\f\n\r\t\v':
            out += "\\" + '"\\abfnrtv'['"\\\a\b\f\n\r\t\v'.index(ch)]
        elif ch.isprintable():
            out += ch
        else:
            out += "\\x%02x" % (ord(ch) & 0xFF) if ord(ch) < 128 or 0xDC80 <= ord(ch) < 0xDD00 else "\\u%04x" % ord(ch)
    return '"' + out + '"'


class Record:
    def __init__(self, c, at, off):
        self.loc, self.start, self.w1, head, self.w3 = off + at, u(c, at), i64(c, at + 8), u(c, at + 16), u(c, at + 24)
        self.goid, self.name, self.more, self.slots = head & (1 << 40) - 1, head >> 48, head >> 47 & 1, []
        self.kind = KINDS[head >> 40 & 127] if head >> 40 & 127 < len(KINDS) else ""

    def extend(self, ext):
        at = 8
        for i in range(12):
            kind = u(ext, 0) >> 12 + 4 * i & 15
            if not kind or at + 8 > len(ext):
                return
            v, at = u(ext, at), at + 8
            if kind in (6, 7):
                kept = v & 0xFFFFFFFF
                if kept > 1024 or at + kept > len(ext):
                    return
                v, at = (ext[at:at + kept], v >> 32), at + (kept + 7) // 8 * 8
            self.slots.append((kind, v))

    def has(self, *kinds):
        return tuple(s[0] for s in self.slots[:len(kinds)]) == kinds


def walk(c, end, off):
    """The records of the chunk c."""
    at, thread = 64, 0
    while at + 32 <= end:
        if 0 < u(c, at) < MAX:
            r = Record(c, at, off)
            at += 32
            if r.more and at + 32 <= end and u(c, at) >> 60 == 7 and c[at]:
                if at + 32 * c[at] <= end:
                    r.extend(c[at:at + 32 * c[at]])
                at = min(at + 32 * c[at], end)
            thread = r.w1 & 0xFFFFFFFF if r.kind == "anchor" else thread
            r.thread = thread
            if r.kind:
                yield r
        else:
            at += 32 * c[at] if u(c, at) >> 60 == 7 and c[at] else 32


class Trace:
    def __init__(self, data):
        if data[:8] != b"SCOPEVW\x01" or u(data, 8, 2) > 1 or len(data) < 192 or crc32c(data[:96]) != u(data, 96, 4):
            raise ValueError("not a trace that can be read")
        size, self.start, self.mono, self.rate = u(data, 12, 4), i64(data, 52), i64(data, 60), i64(data, 76)
        self.names, self.calibs, self.breaks, self.chunks, newest, self.last = {}, [], [], [], {}, self.start
        self.size, self.ring, self.until, self.carries = size, u(data, 92, 4), i64(data, 168), {}
        self.saw(i64(data, 136))
        self.places = self.index(data)
        for off, (_, since, place) in sorted(self.places.items()):
            c = data[place:place + size]
            whole, c = len(c) // 32 * 32, c + bytes(size - len(c))
            sealed, writer = i64(c, 32), (c[5], u(c, 12, 4))
            if c[4] == 2:
                self.blocks(c[:sealed or size])
            else:
                end = min(sealed or (len(c.rstrip(b"\0")) + 31) // 32 * 32, whole)
                self.chunks.append((off, since, writer, u(c, 28, 4) & 3, list(walk(c, end, off))))
                newest[writer] = max(newest.get(writer, (0, 0)), (since if self.ring else 0, off))
        for off, _, writer, flags, records in self.chunks:
            for r in records if flags < 2 or newest[writer][1] == off else []:
                self.saw(r.start, r.w1 if r.kind in SPANS | {"pending"} else 0)
        knots = [(self.start, 0)]
        for t, mono in sorted(self.calibs, key=lambda k: k[0]):
            if t - knots[-1][0] >= max(1, self.rate // 10) and knots[-1][1] < mono - self.mono < 1 << 61:
                knots.append((t, mono - self.mono))
        self.segments = [(t0, n0, t1 - t0, n1 - n0) for (t0, n0), (t1, n1) in zip(knots, knots[1:])] or [(self.start, 0, self.rate, 10**9)]
        if u(data, 24, 4) == 2:
            self.segments = [(self.start, 0, 1, 1)]

    def index(self, data):
        """The chunks, by the offset that counts: their generation, since and place."""
        places, size = {}, self.size
        for at in range(size, len(data), size):
            c = data[at:at + 64] + bytes(64)
            since, number, kept = i64(c, 16), u(c, 40, 4), c[28] & 4
            if u(c, 0, 4) != 0x6B6E6843 or u(c, 8, 4) * size != at or not 0 < since < MAX or not 0 <= i64(c, 32) <= size or c[4] not in (1, 2):
                continue
            off = at
            if self.ring and kept:
                off = KEPT * size + at
                if number or c[4] == 1:
                    continue
            elif self.ring:
                off = number * size
                if not 1 <= number <= RING_NUMBERS:
                    continue
            if off not in places or (u(c, 24, 4), since) > places[off][:2]:
                places[off] = u(c, 24, 4), since, at
        return places

    def can_hold(self, loc):
        return self.size <= loc < KEPT * self.size and loc % self.size >= 64 and loc % 32 == 0

    def names_chunk(self, loc, start):
        _, since, _ = self.places.get(loc // self.size * self.size, (0, MAX, 0))
        return not self.ring or start >= since

    def saw(self, *times):
        self.last = max([self.last] + [t for t in times if 0 < t < MAX])

    def blocks(self, c):
        at = 64
        while at + 16 <= len(c) and u(c, at):
            n, kind = u(c, at, 4), u(c, at + 4, 2)
            p, size = c[at + 16:at + 16 + n], 16 + (n + 7) // 8 * 8
            if at + size > len(c):
                return
            if crc32c(c[at:at + 8] + p) == u(c, at + 8, 4):
                self.block(kind, p)
            at += size

    def block(self, kind, p):
        times = [i64(p, 8 * i) for i in range(TIMES.get(kind, 0))]
        if len(p) < (32 if kind in (2, 6) else 8 * len(times)) or kind == 16 and len(p) != 56 or not all(0 < t < MAX for t in times) or kind == 6 and times[0] > times[1]:
            return
        if kind == 13:
            return self.carry(p)
        self.saw(*times)
        if kind == 1 and 8 <= len(p) <= 8 + 1024 and u(p, 0, 4) < 65536:
            self.names.setdefault(u(p, 0, 4), p[8:])
        elif kind == 2:
            self.calibs.append((times[0], i64(p, 8)))
        elif kind == 8:
            self.breaks.append((min(times), max(times)))

    def carry(self, p):
        ext, loc = p[56:], i64(p, 8)
        if len(p) < 56 or len(ext) % 32 or loc <= 0 or loc % 32:
            return
        r = Record(p, 24, 0)
        if bool(ext) != bool(r.more) or ext and (u(ext, 0) >> 60 != 7 or not ext[0] or 32 * ext[0] != len(ext)):
            return
        self.saw(i64(p, 0))
        if not self.ring or r.kind not in SPANS | {"pending", "track", "go"} or not 0 < r.start < MAX or not self.can_hold(loc):
            return
        if ext:
            r.extend(ext)
        r.loc, r.thread, r.owner, r.told = loc, u(p, 16, 4), u(p, 20, 4), i64(p, 0)
        old = self.carries.get((loc, r.start))
        if not old or old.told <= r.told:
            self.carries[loc, r.start] = r

    def made(self, ends):
        """The records of overwritten chunks that carries and ends still tell of."""
        told = {key: r for key, r in self.carries.items() if not self.names_chunk(*key)}
        for e, owner in ends:
            key, goid = (e.slots[0][1], e.w1), e.slots[1][1] if e.has(9, 10) else -1
            if key in told and told[key].kind in SPANS | {"pending"}:
                told[key].w1 = told[key].w1 | -1 << 63 if goid >= 0 else told[key].w1
            elif key not in told and e.has(9, 10, 14) and e.slots[2][1]:
                r = Record(struct.pack("<4Q", e.w1, 1 << 63, e.slots[2][1], 0), 0, 0)
                if r.kind in SPANS | {"pending"} and goid in (0, r.goid):
                    r.loc, r.thread, r.owner = key[0], 0, owner
                    told[key] = r
        return [(r, 0) for r in told.values()]

    def ns(self, t):
        t0, n0, dt, dn = ([s for s in self.segments if s[0] <= t] or self.segments[:1])[-1]
        return n0 + (t - t0) * dn // dt

    def name(self, i):
        return quote(self.names.get(i, {0: b"", 1: b"(other names)"}.get(i, b"(name %d)" % i)))

    def events(self):
        ends, gone, all, events, rows, tracks = {}, {}, [], [], {}, {}
        found = [(r, c[2][1]) for c in self.chunks if c[3] != 2 for r in c[4] if r.kind == "end"]
        for r, owner in found:
            loc = r.slots[0][1] if r.has(9) else 0
            if r.has(9) and self.names_chunk(loc, r.w1):
                ends.setdefault(loc, r)
            elif self.can_hold(loc) and 0 < r.w1 < MAX:
                gone.setdefault((loc, r.w1), (r, owner))
        for _, since, writer, _, records in self.chunks:
            for r in (r for r in records if r.kind not in ("end", "anchor")):
                r.owner = writer[1]
                all.append((r, since))
        here = len(all)
        all += self.made(gone.values())
        for i, (r, since) in enumerate(all):
            r.begin, r.stop, r.cpu, r.end = max(r.start, since), r.w1, r.w3, None
            r.open = r.kind in SPANS | {"pending"} and r.w1 < 0
            e = ends.get(r.loc) if i < here else gone.get((r.loc, r.start), (None,))[0]
            if r.open and e and e.w1 == r.start and e.has(9, 10) and e.slots[1][1] in (0, r.goid):
                r.open, r.stop, r.cpu, r.end = False, e.start, e.w3, e
            if r.open and i < here and self.ring and r.w1 >> 62 & 1 and r.start < self.until:
                continue  # its end was overwritten
            r.good = not r.open and r.begin <= r.stop < MAX
            r.time = r.stop if r.kind == "pending" and r.good else r.begin
            events.append(r)
        for r in sorted(events, key=lambda r: (r.time, r.loc)):
            row = rows.setdefault(r.goid or ("thread", r.thread) if r.goid or r.thread else ("owner", r.owner), [])
            row[:] = [stop for stop in row if stop > r.time]
            if r.kind in ("track", "go") and r.goid:
                tracks[r.goid] = r.name
            yield self.line(r, len(row), tracks.get(r.goid, 0))
            if r.kind in SPANS:
                row.append(MAX if r.open else r.stop if r.good else r.begin)

    def line(self, r, depth, track):
        out = "%s %s g=%d depth=%d start=%d" % (r.kind, self.name(r.name), r.goid, depth, self.ns(r.time))
        stop = r.stop if r.good else max(self.last, r.begin) if r.open else r.begin
        dur, args, end_args = self.ns(stop) - self.ns(r.begin), r.slots, r.end.slots[3 if r.end.has(9, 10, 14) else 2:] if r.end else []
        out += (" dur=%d" % dur if r.kind in SPANS else "") + (" open" if r.open else "")
        if r.kind == "process":
            clocks = end_args[:2] if [s[0] for s in end_args[:2]] == [11, 12] else []
            end_args, begin, args = end_args[len(clocks):], args[:2] if r.has(11, 12) else [], args[2 if r.has(11, 12) else 0:]
            times = [now - then for (_, now), (_, then) in zip(clocks, begin)]
            if r.good and times and min(times) >= 0:
                out += " cpu=%d/exact user=%d system=%d" % (sum(times), *times)
        elif r.kind in SPANS and r.good and r.cpu & 3 and not any(r.begin < after and stop > before for before, after in self.breaks):
            out += " cpu=%d/%s" % (min((r.cpu >> 2) * 10**9 // self.rate, dur), ["exact", "likely", "most"][(r.cpu & 3) - 1])
        elif r.kind == "counter":
            out += " value=" + self.slot(r.w3, r.w1 % (1 << 64))
        elif r.kind == "go":
            out += " created=%d creator=%d" % (self.ns(r.w1), r.w3)
        by = r.end.goid if r.end and r.end.goid != r.goid else 0
        out += "".join(" %s=%d" % kv for kv in (("thread", r.thread), ("owner", r.owner), ("endg", by)) if kv[1])
        out += " track=" + self.name(track) if track else ""
        for mark, slots in (" |", args), (" ||", end_args):
            out += mark + "".join(" " + self.slot(*s) for s in slots) if slots else ""
        return out

    def slot(self, kind, v):
        if kind in (6, 7):
            text = quote(v[0]) + ("/%d" % v[1] if v[1] != len(v[0]) else "")
        elif kind == 3:
            f = struct.unpack("<d", struct.pack("<Q", v))[0]
            text = "NaN" if f != f else repr(f).removesuffix(".0")
        elif kind == 8:
            text = self.name(v)
        elif kind == 14 and v:
            k = v >> 40 & 127
            text = "%s/%s/%d" % (k < len(KINDS) and KINDS[k] or "kind-%d" % k, self.name(v >> 48), v & (1 << 40) - 1) + "/ext" * (v >> 47 & 1)
        else:
            signed = v - (1 << 64) if kind in (1, 5, 11, 12) and v >> 63 else v
            text = {4: {0: "false", 1: "true"}.get(v, str(v)), 13: hex(v)}.get(kind, str(signed))
        return "%s:%s" % (SLOTS[kind] or "slot%d" % kind, text)


for path in sys.argv[1:]:
    print("== " + path)
    with open(path, "rb") as f:
        for event in Trace(f.read()).events():
            print(event)
