// Package index reads and writes the registry index: plain files that say which versions a pack has, where each one
// is, and what it is made of, so that resolving needs one small file a pack and no download.
//
// An index is a directory of static files:
//
//	config.json
//	packs/<2 hex>/<2 hex>/<owner>/<name>.ndjson
//
// where the four hex digits are the first of the SHA-256 of owner/name. A pack's file has a JSON object on each line, a
// line for each version in the order of publishing. It only grows: a version is withdrawn by appending a line
// {"version", "yanked": "reason"} and restored by one with "yanked": false, so that caches and mirrors never see a line
// change. Any other second line for a version is an error. {"deprecated": "message"} is about the pack as a whole and
// taken back by false.
//
// From these files others are made, above all the catalogue, catalog.ndjson.gz: a line for each pack, sorted by name,
// for who searches. They can be made again at any time and nothing is resolved from them.
//
// The package has no network and no disk: it turns bytes into values and back.
package index
