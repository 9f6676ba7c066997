// Package page builds the timeline as one page. The same page has two homes: a file with all
// its data, which needs nothing else, and `scopeview serve`, which sends it the data piece
// by piece.
//
// # Design
//
// The page is export/html/assets/index.html with the style sheets and the scripts inserted.
// The scripts are ES modules that node and editors can use directly; here they are
// concatenated into one, in the order in which a browser would run them, because a file on a
// disk can't import others. So their top-level names must be distinct, and imports must not
// rename.
//
// A container (package timeline) becomes columns, then batches (typed arrays), then
// pyramids: runs by resolution, made once for each lane on first use. The model has the
// whole trace, later news, open scopes, and finer tiles of the visible range. Drawing
// requests items at a resolution of a pixel and a half: the cost of a frame depends on the
// window, not on the trace.
//
// States of goroutines and rows of locks are beside the scopes. A file has them in its
// container; from a server the page requests them separately, so the first picture does not
// wait for the Go execution trace.
//
// The doctor's findings, and the advice of the raw file beside the trace, come in the same
// way: in the container, or when their tab is first opened.
//
// Data never becomes markup: names, arguments and all other data of a trace are in the
// container (see package timeline), which is base64 in a script element of a type that no
// browser runs. The page's own script writes text and pixels and never HTML. The content
// security policy allows only that script, by its hash.
//
// # Computed on both sides
//
// A file has no server, and a page that has all scopes of a range need not wait for one: so the page
// computes what follows a choice of the reader. It requests the results for data that it lacks; a
// file has them, or states its resolution. Both sides are tested with the same examples.
//
//	what                                computed by                           shared examples
//	merging of neighbours               Go up to a tile's resolution, then    internal/timeline/testdata/merge.json
//	                                    the page
//	sums of names and locks, replay     the page; Go if scopes are merged,    test/fixtures.json, and all golden
//	of self time and holders            for the whole also in the file        traces in cmd/scopeview
//	functions, callers, trees, lines,   the page, of samples that Go          test/samples.json
//	slow executions compared            gathered once
//	tracks of processors and threads,   Go of merged states; the page of      test/states.json
//	numbers of running goroutines       exact ones, which tracks would
//	                                    nearly double (+70 to +90 %)
//	executions, requests                Go finds the items, the page lists    only one side each
//	                                    and nests them
//	findings, advice, losses            Go                                    only one side
//	numbers, functions' names, CSV      both                                  testdata of internal/show,
//	                                                                          internal/format, internal/export/csv
//	heads and hints of tables           Go: panel/hints.js is generated       TestHints
//
// Durations and sizes are written with a space on the page (1.67 ms), and exported Chrome traces have only
// what the page has: those two have no shared examples.
package page
