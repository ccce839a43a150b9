package bm25

import (
	"encoding/binary"
	"io"
	"sort"
)

// Index is an open index. It is for one goroutine at a time.
type Index struct {
	schema *Schema
	file   file
	docs   int
	blocks []block
	loaded map[int][]Document // blocks that were read

	learned        []abbreviation
	records, texts []byte // the dictionary
}

// block is where a block of documents is.
type block struct{ off, size, unpacked int }

// Read opens an index of size bytes.
func Read(s *Schema, r io.ReaderAt, size int64) (*Index, error) {
	x := &Index{schema: s, file: file{r, size}, loaded: map[int][]Document{}}
	b, err := x.file.directory()
	if err != nil {
		return nil, err
	}
	docs, b, ok1 := cutUvarint(b, maxDocs)
	count, b, ok2 := cutUvarint(b, docs)
	words, b, ok3 := cutUvarint(b, len(b)/recordSize)
	if !ok1 || !ok2 || !ok3 {
		return nil, damaged("the directory of the index is invalid")
	}
	x.docs = docs
	off := 0
	for range count {
		var k block
		k.off = off
		k.size, b, ok1 = cutUvarint(b, maxPart)
		k.unpacked, b, ok2 = cutUvarint(b, maxPart)
		if !ok1 || !ok2 {
			return nil, damaged("the list of documents is invalid")
		}
		off += k.size + sumSize
		x.blocks = append(x.blocks, k)
	}
	if x.learned, b, ok1 = cutTable(b); !ok1 {
		return nil, damaged("the list of abbreviations is invalid")
	}
	if len(b) < words*recordSize {
		return nil, damaged("the list of words is invalid")
	}
	x.records, x.texts = b[:words*recordSize], b[words*recordSize:]
	for i := range words { // so that reading a word can't fail
		if start, end := x.textRange(i); start > end || end > len(x.texts) || x.count(i) > docs {
			return nil, damaged("the list of words is invalid")
		}
	}
	return x, nil
}

// Len returns the number of documents.
func (x *Index) Len() int { return x.docs }

// words returns the number of words in the dictionary.
func (x *Index) words() int { return len(x.records) / recordSize }

// textRange returns the range of a word's text.
func (x *Index) textRange(word int) (start, end int) {
	start = int(binary.LittleEndian.Uint32(x.records[word*recordSize:]))
	if word+1 == x.words() {
		return start, len(x.texts)
	}
	return start, int(binary.LittleEndian.Uint32(x.records[(word+1)*recordSize:]))
}

// word returns a word of the dictionary.
func (x *Index) word(i int) []byte {
	start, end := x.textRange(i)
	return x.texts[start:end]
}

// count returns how many documents have a word.
func (x *Index) count(word int) int {
	return int(binary.LittleEndian.Uint32(x.records[word*recordSize+4:]))
}

// startOf returns the first word that is not less than a text.
func (x *Index) startOf(text string) int {
	return sort.Search(x.words(), func(i int) bool { return string(x.word(i)) >= text })
}

// lookup returns a word of the dictionary, and whether it is there.
func (x *Index) lookup(text string) (word int, ok bool) {
	i := x.startOf(text)
	return i, i < x.words() && string(x.word(i)) == text
}

// Word is a word of the dictionary.
type Word struct {
	Text     string
	Stem     string // the word whose documents count for this one
	Docs     int    // documents; 0 if the stem is another word
	Postings []byte // for each document how many further on it is, as a uvarint, and the impact of the word, a byte
}

// Dictionary calls yield with all words in order, until an error.
func (x *Index) Dictionary(yield func(Word) error) error {
	for i := range x.words() {
		w := Word{Text: string(x.word(i)), Docs: x.count(i)}
		w.Stem = w.Text
		if w.Docs == 0 {
			w.Stem = stem(w.Text)
		} else {
			record := x.records[i*recordSize:]
			var err error
			w.Postings, err = x.file.part(int(binary.LittleEndian.Uint64(record[8:])),
				int(binary.LittleEndian.Uint32(record[16:])))
			if err != nil {
				return err
			}
		}
		if err := yield(w); err != nil {
			return err
		}
	}
	return nil
}

// postings calls yield with each document that has a word, and the word's impact there.
func (x *Index) postings(word int, yield func(doc int, impact byte)) error {
	if x.count(word) == 0 {
		return nil
	}
	record := x.records[word*recordSize:]
	b, err := x.file.part(int(binary.LittleEndian.Uint64(record[8:])), int(binary.LittleEndian.Uint32(record[16:])))
	if err != nil {
		return err
	}
	doc := 0
	for first := true; len(b) > 0; first = false {
		step, rest, ok := cutUvarint(b, x.docs)
		if !ok || len(rest) == 0 || step == 0 && !first || doc+step >= x.docs {
			return damaged("the list of documents for a word is invalid")
		}
		doc += step
		yield(doc, rest[0])
		b = rest[1:]
	}
	return nil
}

// Document returns the key and the data of a document.
func (x *Index) Document(number int) (key string, data []byte, err error) {
	i := number / docsPerBlock
	if number < 0 || i >= len(x.blocks) {
		return "", nil, damaged("a word refers to a document that does not exist")
	}
	list, ok := x.loaded[i]
	if !ok {
		if list, err = x.readBlock(x.blocks[i]); err != nil {
			return "", nil, err
		}
		x.loaded[i] = list
	}
	if number %= docsPerBlock; number >= len(list) {
		return "", nil, damaged("a word refers to a document that does not exist")
	}
	return list[number].Key, list[number].Data, nil
}

func (x *Index) readBlock(k block) (list []Document, err error) {
	packed, err := x.file.part(k.off, k.size)
	if err != nil {
		return nil, err
	}
	b, err := inflate(packed, k.unpacked)
	if err != nil {
		return nil, err
	}
	for len(b) > 0 {
		var parts [2][]byte
		for i := range parts {
			n, rest, ok := cutUvarint(b, len(b))
			if !ok || n > len(rest) {
				return nil, damaged("cannot read the documents")
			}
			parts[i], b = rest[:n], rest[n:]
		}
		list = append(list, Document{Key: string(parts[0]), Data: parts[1]})
	}
	return list, nil
}

// Find returns the number of the document with a key, -1 if there is none.
func (x *Index) Find(key string) (number int, err error) {
	textAt := func(i int) string {
		found, _, failed := x.Document(i)
		if err == nil {
			err = failed
		}
		return found
	}
	all := min(x.docs, len(x.blocks)*docsPerBlock)
	i := sort.Search(all, func(i int) bool { return textAt(i) >= key })
	if err != nil || i == all || textAt(i) != key {
		return -1, err
	}
	return i, nil
}
