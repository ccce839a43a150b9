// Package markdown reads what a linter needs of a Markdown page: its links and images, code spans and code blocks, HTML
// comments, the HTML attributes that refer or name, and the anchors of headings. It makes no tree and no HTML.
//
// The rules it keeps:
//
//   - The language is CommonMark 0.31 with the tables and footnotes of GitHub, in the reading of goldmark 1.8: the
//     tests hold every result to it. Emphasis is not read, since it changes nothing of the above.
//   - The time is linear in the length of the text, whatever the text is. There is one bound: a link's destination with
//     more than 32 open parentheses is none, as on GitHub.
//   - Every offset counts bytes of the whole text that was given, of which the page may be a later part.
//   - A page that is no proper Markdown does not exist: every text has a reading, NUL and invalid UTF-8 included.
//
// Where goldmark strays from CommonMark in a way that loses what an author wrote, the package follows CommonMark. Those
// places are few and rare; they are the departures of departure.go and of the oracle in the tests.
package markdown
