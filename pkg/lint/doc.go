// Package lint checks skills and says what is wrong with them.
//
// The rules it keeps:
//
//   - Findings are data, each with the id of a [Rule] from one table, a place in a file, what is wrong, and how to mend
//     it. Ids are never given to another rule and never reused.
//   - Everything is reported in one run: a broken file hides no other file, a broken field no other field.
//   - Lengths and columns are counted in Unicode code points, not in bytes.
//   - Frontmatter is judged by the JSON Schema of the profiles asked for; what a schema cannot say is a rule here.
//   - Markdown is read as CommonMark with GitHub's tables and footnotes. Nothing is found inside code or comments.
//   - It reads through [io/fs.FS] and touches neither network, clock nor environment. The same input gives the same
//     report, whatever the number of workers.
package lint
