// Package search finds packs by words, in an index of its own on disk.
//
// An index is built from the packs of a catalogue and is one file, which is written once and then only read. A query
// reads the few parts of it that it needs, so that it takes milliseconds in a new process, however many packs there
// are.
//
// The rules of finding:
//   - Words are compared by their stems (English), without case and accents. Common words count only where nothing else
//     was asked for. Chinese, Japanese and Thai are compared by pairs of letters.
//   - Names made of several words are found by the words and by what they give when joined: change-log is changelog.
//   - The last word may be the beginning of one. So may a word that no pack has; if there is none, it may have one
//     letter wrong: one added, left out or changed, or two swapped.
//   - Packs are ranked by BM25 over their fields. A word in the name weighs most, then one in the tags, in the names of
//     the skills, and in the descriptions. A name that is just what was asked for comes first. Packs that have all
//     words come before those that have some of them, and those that nobody should use any more come late.
//   - The same index and query give the same answer on every machine: ranks are whole numbers, and equals are sorted by
//     name.
//
// An index is a cache. What it is made from is not trusted: every text, list and number of words has a bound, and
// building takes a bounded amount of memory. A file that is damaged is an error with the code [diag.Invalid], found by
// the checksum that each part has, and is built again.
package search
