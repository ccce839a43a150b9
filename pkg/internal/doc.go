// Package internal has nothing in it; the packages below it are mechanisms that know nothing about packs.
//
// Files and paths:
//
//   - atomicfile writes a file completely or not at all.
//   - safefile reads files that others may have put there: regular ones, of a bounded size.
//   - pathx decides whether a path is inside a directory, and where links lead.
//   - scope knows where skillpm keeps files, for a project, a user, and a machine.
//   - txn changes many files in one transaction that survives a crash.
//   - overlayfs shows files with the contents of an editor's buffers.
//   - watch reports which files changed.
//   - activity reports what long work waits for, and retries.
//
// Formats:
//
//   - yamlx reads YAML strictly, and edits it in place; yamlschema checks it against a JSON Schema.
//   - jsonx reads JSON strictly.
//   - markdown reads the links, code, and headings of a page.
//   - syntax checks whether scripts, JSON, and YAML are well formed.
//   - scan finds hostile content and secrets in text and scripts; scan/flow follows data through code, scan/rulefile
//     reads rules, and scan/atom finds the texts that a regular expression needs.
//   - advisory reads, matches, and orders advisories about packs.
//   - textdiff compares trees of files.
//
// The rest:
//
//   - bm25 ranks documents by the words of a query; packsearch says what the words of a pack count.
//   - textx counts, lists, and shortens what messages show.
//   - tokens estimates how many tokens a text has.
//   - environ has the streams, variables, clock, and directories of the process.
//   - httpx has the retries, limits, redirects, and checks of addresses of HTTP clients.
//   - bug turns panics into errors; secret removes secrets from messages.
//   - syserr explains errors of the machine, such as a full disk.
//   - testkit has servers, fixtures, and contract tests, for tests only.
package internal
