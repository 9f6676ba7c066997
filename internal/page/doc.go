// Package page is the timeline as one page. The same page has two homes: a file
// that holds its data and needs nothing else, and `scopeview serve`, which gives
// it the data piece by piece.
//
// # Design
//
// The page is export/html/assets/index.html with the style sheets and the scripts put into
// it. The scripts are ES modules that node and an editor understand as they are;
// here they are strung together, in the order in which a browser would run them,
// into one, because a file on a disk can't import others. So their top-level
// names must be distinct, and imports be by the names that were exported.
//
// A container (package timeline) becomes columns, then batches (typed arrays), then
// pyramids: runs by resolution, made once for each lane when they are first asked for. The
// model knows the whole, what came since, what is open, and finer tiles of what is looked
// at. Drawing asks it for what is to be seen at a pixel and a half: what a frame costs
// depends on the window, not on the trace.
//
// Summary, flame view and search are computed from the model by the rules of
// internal/analysis, which the tests compare. Where the model is coarse the server is
// asked, or the file says of what it tells. States of goroutines and rows of locks are
// beside the scopes. A file has them in its container; a server is asked apart from the
// scopes, so the first picture does not wait for the Go execution trace.
//
// What the doctor says, and the advice of the raw file beside the trace, come likewise: in the
// container, or when their tab is opened first.
//
// Data never becomes markup: names, arguments and all else that a trace holds are
// in the container (see package timeline), which is in the page as base64 in a
// script element of a type that no browser runs. The page's own script writes
// text and pixels and never HTML. The content security policy lets nothing run but
// that script, by its hash.
package page
