// Package markdown reads what a linter needs of a Markdown page: links and images, code spans and code blocks, HTML
// comments, HTML attributes with addresses or names, and anchors of headings. It builds neither a tree nor HTML. Start
// reading at [Page], then reader.go (lines), block.go (blocks), and inline.go (links and code spans).
//
// The rules it keeps:
//
//   - The language is CommonMark 0.31 with GitHub's tables and footnotes, as goldmark 1.8 reads it: the tests compare
//     every result with goldmark's. Emphasis is ignored, because it affects none of the above.
//   - The time is linear in the length of the text. This needs one limit: a link's destination has at most 32 open
//     parentheses, as on GitHub.
//   - Offsets count bytes of the file, which may start with other text.
//   - Syntax errors do not exist: every text is valid Markdown, including NUL and invalid UTF-8.
//
// If goldmark deviates from CommonMark and loses content, the package follows CommonMark. deviation.go lists these
// cases. This package may change at any time.
package markdown
