// Package assets embeds the scripts, style sheets and HTML skeleton of the page.
package assets

import "embed"

// Files are the sources of the page, by their paths here.
//
//go:embed index.html *.js *.css data/*.js model/*.js view/*.js panel/*.js
var Files embed.FS
