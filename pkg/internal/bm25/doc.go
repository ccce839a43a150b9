// Package bm25 ranks documents by how well their fields match the words of a query (BM25F). It knows nothing about what
// the documents are. The indexes of skills and of packs are cache files.
//
// Where to start reading: tokenize.go makes words of text; [Schema] and weight.go say what a word in a field counts;
// [Build] writes an index and [Read] opens one; [Query] finds the forms of its words; [Find] ranks; [Answer.Explain]
// says why.
//
// The rules of matching:
//   - Words are compared by their English stems, without case and accents. Common words count only in a query that has
//     no others. Chinese, Japanese, and Thai are compared by pairs of letters.
//   - A short list has synonyms. A sentence also matches the words of abbreviations that documents explain.
//   - A long sentence is reduced to the words that distinguish documents, and words that it repeats count more.
//   - Names made of several words match the words and their concatenation: change-log matches changelog.
//   - The last word of keywords may be the beginning of a word, and so may each word that no document has. If there is
//     none, one letter may be wrong: added, left out, changed, or two neighbors swapped.
//   - Equal indexes and queries give equal answers on every machine: points are integers, and documents with equal
//     points keep their order.
//
// An index file is a cache of untrusted text: everything has a bound. Damage is an error with the code [diag.Invalid],
// found by the checksum that each part has, when the part is read. This package may change at any time.
package bm25
