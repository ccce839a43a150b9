// Package markdown reads what a linter needs of a Markdown page: its links and images, code spans and code blocks, HTML
// comments, the HTML attributes that refer or name, and the anchors of headings. It builds neither a tree nor HTML.
// Start reading at [Page], then reader.go (lines), block.go (blocks), and inline.go (links and code spans).
//
// The rules it keeps:
//
//   - The language is CommonMark 0.31 with the tables and footnotes of GitHub, as goldmark 1.8 reads it: the tests
//     compare every result with goldmark's. Emphasis is not read, since it affects none of the above.
//   - The time is linear in the length of every text. For that there is one limit: a link's destination has at most 32
//     open parentheses, as on GitHub.
//   - Offsets count bytes of the file, of which the page may be only the end.
//   - There are no syntax errors: every text is valid Markdown, including NUL and invalid UTF-8.
//
// If goldmark deviates from CommonMark and loses content, the package follows CommonMark. deviation.go lists these few
// cases. This package may change at any time.
package markdown
