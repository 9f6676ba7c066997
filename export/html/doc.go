// Package html is the timeline as one page. The same page has two homes: a file
// that holds its data and needs nothing else, and `scopeview serve`, which gives
// it the data piece by piece.
//
// # Design
//
// The page is assets/index.html with the style sheets and the scripts put into
// it. The scripts are ES modules that node and an editor understand as they are;
// here they are strung together, in the order in which a browser would run them,
// into one, because a file on a disk can't import others. So their top-level
// names must be distinct, and imports be by the names that were exported.
//
// Data never becomes markup: names, arguments and all else that a trace holds are
// in the container (see package timeline), which is in the page as base64 in a
// script element of a type that no browser runs. The page's own script writes
// text and never HTML, and the content security policy lets nothing run but it.
package html
