// Package page has the parts of self-contained HTML pages: the document with its style, sections, tables, tiles, and
// bars. Start reading at [Document].
//
// A page has no script and loads nothing. Its texts are never interpreted; [Visible] and [Lines] replace characters
// that hide or reorder text.
package page
