// Package site makes a static catalogue of packs: pages to read and search, for any file server.
//
// The rules it keeps:
//
//   - It is given values and gives files, through a callback. It has no network, disk, clock or environment, and the
//     same values give the same bytes.
//   - Every link is relative, so that a catalogue works below any path and from file://. Nothing is loaded from
//     elsewhere, which a Content-Security-Policy in each page holds it to: no inline script, no inline style, nobody
//     else's host.
//   - Everything can be read without JavaScript. The script adds search, and buttons that copy.
//   - What packs say is hostile until it is escaped: text by templ, Markdown by a renderer that knows no raw HTML, and
//     then by a list of allowed elements. Images are never loaded, links that would lead into the catalogue are text.
//   - Ten thousand packs are a common size: lists have pages, and the search index is cut so that a word costs one
//     small file.
package site

//go:generate go run github.com/a-h/templ/cmd/templ@v0.3.960 generate
