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
// Summary, flame view and search are computed from the model by the rules of
// internal/analysis, which the tests compare. If the model is coarse the page asks the
// server, or the file states its resolution. States of goroutines and rows of locks are
// beside the scopes. A file has them in its container; from a server the page requests them
// separately, so the first picture does not wait for the Go execution trace.
//
// The doctor's findings, and the advice of the raw file beside the trace, come in the same
// way: in the container, or when their tab is first opened.
//
// Data never becomes markup: names, arguments and all other data of a trace are in the
// container (see package timeline), which is base64 in a script element of a type that no
// browser runs. The page's own script writes text and pixels and never HTML. The content
// security policy allows only that script, by its hash.
package page
