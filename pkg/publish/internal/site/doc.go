// Package site renders a static website of an index: pages to read and search, for any file server.
//
// The rules it keeps:
//
//   - It converts values to files and passes them to a callback. It has no network, disk, clock, or environment, and
//     the same values give the same bytes.
//   - Every link is relative, so that a website works below any path and from file://. Pages load nothing from other
//     hosts, and a Content-Security-Policy in each page enforces that: no inline scripts, no inline styles.
//   - Everything can be read without JavaScript. The script only adds search, and copy buttons.
//   - The content of packs is hostile until it is escaped: text by templ, Markdown by a renderer without raw HTML and
//     with a list of allowed elements. Images are not loaded, and links to other paths of the website become text.
//   - It scales to ten thousand packs: lists have pages, and the search index is divided so that a word costs one small
//     file.
package site

//go:generate go run github.com/a-h/templ/cmd/templ@v0.3.960 generate
