// Package index reads and writes the registry index: static files that list the versions of every pack, with the source
// and the skills of each, so that the solver needs one small file for each pack and no download.
//
// An index is a directory:
//
//	config.json
//	packs/<2 hex>/<2 hex>/<owner>/<name>.ndjson
//
// The four hex digits are the first of the SHA-256 of owner/name. The file of a pack has a JSON object on each line,
// one for each version in the order of publishing. The rules that the package keeps:
//
//   - A file only grows, so that caches and mirrors never see a line change. A line {"version", "yanked": "reason"}
//     yanks a version, and one with "yanked": false restores it. Any other second line for a version is an error.
//   - {"deprecated": "message"} deprecates all versions of the pack, and false ends that.
//   - The catalog, catalog.ndjson.gz, has a line for each pack, sorted by name, for searches. It is generated from the
//     other files, and the solver doesn't read it.
//   - The package turns bytes into values and back. It has no network access and writes nothing to disk.
//
// Start reading at [Parse] and [Line].
//
// This package is part of skillpm's embedding API and keeps compatibility.
package index
