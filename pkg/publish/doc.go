// Package publish does an author's work: it creates packs and skills, validates and fixes them, and publishes, signs,
// and withdraws releases. Each operation is a method of [Client] with an options struct and a report. Start reading at
// [Client.Publish] and [Client.Validate]. The room's other packages: publish/indexer maintains an index and its
// website, publish/internal/site renders the website's pages, and publish/internal/interpreter checks scripts with
// python3 and node.
//
// The rules that it keeps:
//
//   - It never runs code from a pack. Interpreters only compile scripts.
//   - It replaces a file whole or not at all, and never a file that changed since it was read.
//   - It publishes exactly what it checked, and a published version never changes.
//   - It does not print. Reports are data with warnings in them, and progress goes to [Options.Progress].
//
// This package is part of skillpm's embedding API and keeps compatibility.
package publish
