// Package lint validates skills and reports findings. Start reading at [Run] in run.go, which finds the skills, and at
// skillcheck.go, which checks one of them; each rule is a method of skillCheck that adds findings.
//
// This package is part of skillpm's embedding API and keeps compatibility.
//
// The rules it keeps:
//
//   - Findings are data, each with the id of a rule from one table, a position in a file, what is wrong, and how to fix
//     it. An id is never reused for another rule.
//   - One run reports everything: a broken file hides no other file, a broken field no other field.
//   - Lengths and columns are counted in Unicode code points, not in bytes.
//   - The JSON Schema of each profile validates frontmatter; what a schema cannot express is a rule here.
//   - Markdown is read as CommonMark with GitHub's tables and footnotes. Nothing is found inside code or comments.
//   - It reads through [io/fs.FS] and uses neither network, clock nor environment. The same input gives the same
//     report, whatever the number of workers.
//
// The packages of this room:
//
//   - lint: the rules, suppressions, and baselines
//   - lint/internal/similar: how alike two descriptions are
package lint
