package analysis

import (
	"strconv"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/trace"
)

// recording has the properties of a recording that determine the remedy for losses. The zero
// value is an unknown one.
type recording struct {
	ring     int64 // bytes; 0: no ring
	segments bool
	backing  format.Backing
	buffer   int64 // bytes that could wait in memory for the disk; 0: unknown
	limited  bool  // a memory limit may leave less
}

func recordingOf(t *trace.Trace) recording {
	h := t.Header()
	in := recording{ring: t.Ring(), segments: h.Segments > 0 || h.Ring > 0 && h.Limit > 0, backing: h.Backing}
	if n, err := strconv.ParseInt(t.Lookup("buffer"), 10, 64); err == nil && n > 0 {
		in.buffer = n
	}
	for _, b := range t.Beats() {
		if _, limited := b.Value(format.FieldMemLimit); limited {
			in.limited = true
			break
		}
	}
	return in
}

// bufferSize describes the size of the buffer; "": unknown.
func (in recording) bufferSize() string {
	switch {
	case in.buffer == 0:
		return ""
	case in.limited:
		return "up to " + show.Size(in.buffer)
	}
	return show.Size(in.buffer)
}

const (
	recordLess = "record less: scope.WithFilter, WithLockThreshold"
	// largestWindow is the ring size from which the window has its maximum size.
	largestWindow = 256 << 20
	// mostBuffer is scope.MaxBuffer, which only an importer of the recorder may use.
	mostBuffer = format.MaxHotSlots * format.ChunkSize
)

// remedy returns the remedy for losses of a reason, "" if there is none.
func (in recording) remedy(why format.Loss) string {
	switch why {
	case format.LossWindow:
		return recordLess + in.largerBursts()
	case format.LossLimit:
		return "raise scope.WithLimit, keep the last with WithRing, or record less with WithFilter"
	case format.LossSpace:
		return "Stats.LastError says which; make room, or keep less: " + in.keepLess()
	case format.LossIO:
		if in.segments && in.backing == format.BackingDisk {
			return "Stats.LastError says why; scope.WithBacking(ShmBacking) needs no disk to go on"
		}
		return "Stats.LastError says why"
	case format.LossStack:
		return "call scope.Stack less often, with the sum as weight"
	case format.LossOpen:
		if in.segments {
			return "larger or more scope.WithSegments keep more"
		}
		return "a larger scope.WithRing keeps more"
	case format.LossBuffer:
		return in.largerBuffer()
	}
	return ""
}

// largerBursts returns the option that makes the window larger, for larger bursts.
func (in recording) largerBursts() string {
	switch {
	case in.segments && in.ring < largestWindow:
		return "; larger or more scope.WithSegments take larger bursts"
	case in.ring > 0 && in.ring < largestWindow:
		return "; a larger scope.WithRing takes larger bursts"
	case in.ring == 0 && in.backing == format.BackingDisk:
		return "; scope.WithBacking(ShmBacking) takes larger bursts"
	}
	return ""
}

func (in recording) keepLess() string {
	switch {
	case in.segments:
		return "smaller or fewer scope.WithSegments"
	case in.ring > 0:
		return "a smaller scope.WithRing"
	}
	return "scope.WithRing, WithLimit"
}

func (in recording) largerBuffer() string {
	switch {
	case in.segments && in.ring < largestWindow:
		return "enlarge it: scope.WithBuffer, and larger or more scope.WithSegments; or " + recordLess
	case in.buffer >= mostBuffer:
		return "it is as large as can be: " + recordLess
	case in.limited:
		return "enlarge it: scope.WithBuffer, or the limit of memory, which bounds it; or " + recordLess
	}
	return "enlarge it: scope.WithBuffer; or " + recordLess
}
