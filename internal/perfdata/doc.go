// Package perfdata reads what Linux' perf record writes (perf.data), and makes profiles of it.
//
// # Design
//
//  1. A file is read twice, as a stream. The first pass learns what processes had mapped and
//     when, the second takes samples. perf writes records in an order that is only roughly that
//     of time. So a mapping may be behind the samples that need it, and no sorting is needed.
//  2. What is kept are addresses (a file and an offset in it) and their counts, so the size in
//     memory follows the programs and not the time that was sampled.
//  3. Addresses become places when all are counted, and only those of the chosen executable's
//     processes: see package symbols. A file whose build id is another is not used.
//  4. What is left out is counted, and told by reason.
//  5. With branch records (perf record -b) the profile is of calls that were taken, and
//     Branches counts what ran between two branches, as AutoFDO does.
//  6. A file is foreign bytes: none of its lengths is an allocation's size.
//
// The format is described in tools/perf/Documentation/perf.data-file-format.txt of Linux, its
// records in include/uapi/linux/perf_event.h.
package perfdata
