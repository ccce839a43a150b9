// Package yamlx reads YAML files strictly and edits them in place. Every other package that reads or writes YAML by
// nodes goes through it.
//
// Rules that reading keeps:
//
//   - A file has one document, which is a mapping. Merge conflicts, duplicate keys, anchors, aliases, and tags are
//     problems, because they make a file mean something else than it seems to mean.
//   - Scalars are read as they are written, so that 1.10 stays 1.10. A value that YAML takes for null is a problem that
//     asks for quotes.
//   - A problem has a line, a column, and a hint. Reading goes on after it, so that one run reports all of them.
//
// Rules that editing keeps:
//
//   - An edit replaces the bytes of the value that it is about. Comments, order, blank lines, quotes, indentation, and
//     line ends stay.
//   - The editor reads the result and compares it with what was wanted. It refuses an edit that would change anything
//     else.
//
// Start with [Read] and [Value] to read, with [NewEditor] to edit. The package performs no I/O and may change at any
// time.
package yamlx
