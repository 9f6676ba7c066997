// Package perfdata reads the files of Linux' perf record (perf.data), and makes profiles of
// them.
//
// # Design
//
//  1. A file is read twice, as a stream. The first pass collects the mappings of processes and
//     their times, the second takes samples. perf writes records in an order that is only
//     roughly that of time. So a mapping may follow the samples that need it, and no sorting
//     is needed.
//  2. Addresses (a file and an offset in it) are kept with their counts, so the size in
//     memory depends on the programs and not on the time that was sampled.
//  3. Addresses become places after counting, and only those of the chosen executable's
//     processes: see package symbols. A file with a different build id is not used.
//  4. Samples that are left out are counted, and reported by reason.
//  5. With branch records (perf record -b) the profile consists of the calls taken, and
//     Branches counts the code that ran between two branches, as AutoFDO does.
//  6. A file is not trusted: none of its lengths is used as an allocation's size.
//
// The format is described in tools/perf/Documentation/perf.data-file-format.txt of Linux, its
// records in include/uapi/linux/perf_event.h.
package perfdata
