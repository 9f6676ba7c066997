package anonymize

import (
	"regexp"
	"strings"
	"sync"
)

// facts are the facts of a process and its machine that may be kept: the pattern that the value
// must match, and the part of it that stays. Only anonymizing needs them, not each start of the tool.
var facts = sync.OnceValue(func() map[string]*regexp.Regexp {
	return map[string]*regexp.Regexp{
		"go":             regexp.MustCompile(`^go[0-9]+(\.[0-9]+)*(rc[0-9]+|beta[0-9]+)?`),
		"os":             regexp.MustCompile(`^[a-z0-9]{1,12}$`),
		"arch":           regexp.MustCompile(`^[a-z0-9]{1,12}$`),
		"kernel":         regexp.MustCompile(`^[0-9]+(\.[0-9]+)*`),                         // the rest names its builder
		"scopeview":      regexp.MustCompile(`^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9a-z.-]+)?`),    // not a fork's, which has other versions
		"snapshot":       regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{8,18}Z`), // without the file's name
		"cpu":            regexp.MustCompile(`^.*(Intel|AMD|Xeon|EPYC|Ryzen|Apple|ARM|Neoverse|Ampere|Graviton|QEMU).*$`),
		"path_reason":    words,
		"clock_reason":   words,
		"backing_reason": words,
		"witness_reason": words,
		"stacks":         words,

		"merged":             words,
		"merged_other_names": regexp.MustCompile(`^[0-9]{1,20}$`),

		// Parts of a Go execution trace that could not be read are missing in the copy too.
		"unread": regexp.MustCompile(`^[A-Za-z0-9 ,;:.()µ'-]*$`),

		"excerpt_from_ns": regexp.MustCompile(`^[0-9]{1,19}$`),
		"excerpt_to_ns":   regexp.MustCompile(`^[0-9]{1,19}$`),
		"excerpt_lacks":   regexp.MustCompile(`^[A-Za-z0-9 ,;:.()µ'-]*$`),

		"boot": regexp.MustCompile(`^[0-9A-Za-z]{8}$`), // hashed

		"ended": regexp.MustCompile(`^(exit -?[0-9]{1,10}|signal [a-z ]{1,40})$`),

		"monotonic_offset": regexp.MustCompile(`^-?[0-9]{1,19}$`),

		"lock_threshold":         regexp.MustCompile(`^(all|calibrated|duration)$`),
		"deadlock":               regexp.MustCompile(`^(all goroutines)?$`),
		"goroutines_unnamed":     regexp.MustCompile(`^[0-9]{1,20}$`),
		"waits_thinned":          regexp.MustCompile(`^[0-9]{1,20}$`),
		"releases_unseen":        regexp.MustCompile(`^[0-9]{1,20}$`),
		"lock_threshold_ns":      regexp.MustCompile(`^[0-9]{1,20}$`),
		"thread_switches":        regexp.MustCompile(`^(on|off)`), // without the system's message
		"thread_switches_lost":   regexp.MustCompile(`^[0-9]{1,20}$`),
		"thread_switches_paused": regexp.MustCompile(`^(now and then|[0-9]{1,3}% of the time)$`),
		"thread_clock_begin":     regexp.MustCompile(`^[0-9]{1,20} [0-9]{1,20}$`),
		"thread_clock_end":       regexp.MustCompile(`^[0-9]{1,20} [0-9]{1,20}$`),
	}
})

// words matches a sentence of ours, not a quoted path or error.
var words = regexp.MustCompile(`^[A-Za-z0-9 ,;.()'-]*$`)

// Facts describes the facts that stay.
const Facts = "Go's version, operating system, architecture, kernel version, processor, scopeview's version, why\n" +
	"the recorder used what it used, when a snapshot was made"

// keepFact reports whether a fact stays, and cuts its value to the allowed part.
func keepFact(key string, value *string) bool {
	may, ok := facts()[key]
	if !ok {
		return false
	}
	at := may.FindStringIndex(*value)
	if at == nil {
		return false
	}
	*value = (*value)[at[0]:at[1]]
	return !strings.Contains(*value, ".scope") // a file's name, not a word of ours
}
