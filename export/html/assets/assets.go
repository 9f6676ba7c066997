// Package assets has the scripts, style sheets and the skeleton that the page is made of.
package assets

import "embed"

// Files are the page's sources, by their paths here.
//
//go:embed index.html *.js *.css data/*.js model/*.js view/*.js panel/*.js
var Files embed.FS
