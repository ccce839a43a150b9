package search

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"os"
	"sort"

	"github.com/klauspost/compress/flate"
)

// Index is an open index. It is for one goroutine at a time.
type Index struct {
	file   io.ReaderAt
	closer io.Closer
	size   int64
	footer footer
	spans  []span    // of the pieces of packs
	blocks []block   // the pieces of words
	cached cachedRun // the piece of words that was read last
	packs  map[int][]Doc
}

// span is a piece of packs.
type span struct{ off, size, text int }

// block is a piece of words.
type block struct {
	first                   string
	start, places, pieceLen int
}

// Open opens the index in a file. A file that is none, or is damaged or of another form, is an error with the code
// [diag.Invalid]; one that is not there is [fs.ErrNotExist].
func Open(path string) (*Index, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	x, err := Read(f, info.Size())
	if err != nil {
		f.Close()
		return nil, err
	}
	x.closer = f
	return x, nil
}

// Read opens an index of so many bytes.
func Read(file io.ReaderAt, size int64) (*Index, error) {
	x := &Index{file: file, size: size, packs: map[int][]Doc{}}
	b, err := x.piece(int(size)-footerSize, footerSize-sumSize)
	if err != nil {
		return nil, err
	}
	var ok bool
	if x.footer, ok = readFooter(b); !ok {
		return nil, damaged("it is of another form")
	}
	if err := x.readSpans(); err != nil {
		return nil, err
	}
	return x, x.readBlocks()
}

// Close closes the file.
func (x *Index) Close() {
	if x.closer != nil {
		x.closer.Close()
	}
}

// Tag returns what the index was made from.
func (x *Index) Tag() string { return x.footer.tag }

// Len returns how many packs there are.
func (x *Index) Len() int { return x.footer.docs }

// piece reads a piece and compares its checksum.
func (x *Index) piece(off, size int) ([]byte, error) {
	if off < 0 || size < 0 || size > maxPiece || int64(off)+int64(size)+sumSize > x.size {
		return nil, damaged("a part lies outside it")
	}
	b := make([]byte, size+sumSize)
	if _, err := x.file.ReadAt(b, int64(off)); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, damaged("it is too short")
		}
		return nil, err
	}
	if binary.LittleEndian.Uint32(b[size:]) != crc32.Checksum(b[:size], castagnoli()) {
		return nil, damaged("a checksum is wrong")
	}
	return b[:size], nil
}

func (x *Index) readSpans() error {
	b, err := x.piece(x.footer.spans, x.footer.spansLen)
	if err != nil {
		return err
	}
	r := reader{data: b}
	off := 0
	for range (x.footer.docs + docsPerPiece - 1) / docsPerPiece {
		s := span{off: off, size: r.number(), text: r.number()}
		if r.bad || s.text > maxPiece {
			return damaged("the list of its packs")
		}
		x.spans = append(x.spans, s)
		off += s.size + sumSize
	}
	return nil
}

func (x *Index) readBlocks() error {
	b, err := x.piece(x.footer.index, x.footer.indexLen)
	if err != nil {
		return err
	}
	r := reader{data: b}
	for len(r.data) > 0 {
		x.blocks = append(x.blocks, block{first: r.string(), start: r.number(), places: r.number(), pieceLen: r.number()})
		if r.bad {
			return damaged("the list of its words")
		}
	}
	return nil
}

// doc returns a pack.
func (x *Index) doc(number int) (Doc, error) {
	if number < 0 || number >= x.footer.docs {
		return Doc{}, damaged("a pack that is not there")
	}
	piece := number / docsPerPiece
	list, ok := x.packs[piece]
	if !ok {
		var err error
		if list, err = x.readDocs(piece); err != nil {
			return Doc{}, err
		}
		x.packs[piece] = list
	}
	return list[number%docsPerPiece], nil
}

func (x *Index) readDocs(piece int) ([]Doc, error) {
	s := x.spans[piece]
	b, err := x.piece(s.off, s.size)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(b)), int64(s.text)+1))
	if err != nil || len(text) != s.text {
		return nil, damaged("packs do not unpack")
	}
	r := reader{data: text}
	list := make([]Doc, 0, docsPerPiece)
	for range min(docsPerPiece, x.footer.docs-piece*docsPerPiece) {
		list = append(list, readDoc(&r))
	}
	if r.bad || len(r.data) > 0 {
		return nil, damaged("packs do not read")
	}
	return list, nil
}

// Pack returns the pack of a name, and whether there is one.
func (x *Index) Pack(name string) (Doc, bool, error) {
	i, err := x.named(name)
	if err != nil || i < 0 {
		return Doc{}, false, err
	}
	d, err := x.doc(i)
	return d, err == nil, err
}

// named returns the number of the pack of a name, -1 for none.
func (x *Index) named(name string) (int, error) {
	var failed error
	at := func(i int) string {
		d, err := x.doc(i)
		if err != nil && failed == nil {
			failed = err
		}
		return d.Name
	}
	i := sort.Search(x.footer.docs, func(i int) bool { return at(i) >= name })
	if failed != nil || i == x.footer.docs || at(i) != name {
		return -1, failed
	}
	return i, failed
}
