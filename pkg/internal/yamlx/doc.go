// Package yamlx reads YAML files strictly and edits them in place. Every other package that reads or writes YAML by
// nodes goes through it.
//
// Rules that reading keeps:
//
//   - A file has one document, which is a mapping. Merge conflicts, duplicate keys, anchors, aliases, and tags are
//     problems, because they make a file mean something else than it seems to mean.
//   - Scalars are read as they are written, so that 1.10 stays 1.10. A value that YAML reads as null is a problem,
//     whose hint suggests quotes.
//   - A problem has a line, a column, and a hint. Reading continues after it, so that one run reports all problems.
//
// Rules that editing keeps:
//
//   - An edit replaces only the bytes of the edited value. Comments, order, blank lines, quotes, indentation, and line
//     ends stay.
//   - The editor parses the result and compares it with the expected value. It refuses an edit that would change
//     anything else.
//
// Start with [Read] and [Value] to read, with [NewEditor] to edit. The package performs no I/O and may change at any
// time.
package yamlx
