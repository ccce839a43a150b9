package search

import (
	"bufio"
	"container/heap"
	"encoding/binary"
	"errors"
	"io"
	"iter"
	"os"
	"slices"

	"github.com/skillpm/skillpm/pkg/diag"
)

// sorted yields the words and the terms that are held, in order. A word that is only written so, and compared by
// another, is a term of no packs.
func (b *builder) sorted() iter.Seq[*term] {
	keys := make([]string, 0, len(b.surfaces)+len(b.stems))
	for w := range b.surfaces {
		keys = append(keys, w)
	}
	for s := range b.stems {
		if _, ok := b.surfaces[s]; !ok {
			keys = append(keys, s)
		}
	}
	slices.Sort(keys)
	return func(yield func(*term) bool) {
		for _, k := range keys {
			t := &term{key: k}
			if at, ok := b.stems[k]; ok {
				t = b.terms[at]
			}
			if !yield(t) {
				return
			}
		}
	}
}

// spill writes what is held to a temporary file.
func (b *builder) spill() error {
	if len(b.runs) == maxRuns {
		return diag.Errorf(diag.Invalid, "the packs have more words than can be searched")
	}
	f, err := os.CreateTemp(b.temp, ".tmp-")
	if err != nil {
		return err
	}
	b.runs = append(b.runs, f)
	w := bufio.NewWriterSize(f, 256<<10)
	var buf []byte
	for t := range b.sorted() {
		buf = appendString(buf[:0], t.key)
		for _, n := range []int{t.count, t.first, t.last, int(t.mark), len(t.more)} {
			buf = appendNumber(buf, n)
		}
		if _, err := w.Write(append(buf, t.more...)); err != nil {
			return err
		}
	}
	b.reset()
	return w.Flush()
}

// discard removes the temporary files.
func (b *builder) discard() {
	for _, f := range b.runs {
		f.Close()
		_ = os.Remove(f.Name())
	}
	b.runs = nil
}

// finish writes what follows the packs.
func (b *builder) finish(tag string) error {
	if len(b.runs) == 0 {
		return b.out.finish(tag, b.docs, func(yield func(*term, error) bool) {
			for t := range b.sorted() {
				if !yield(t, nil) {
					return
				}
			}
		})
	}
	if err := b.spill(); err != nil {
		return err
	}
	return b.out.finish(tag, b.docs, b.merged())
}

// merged yields the terms of all runs in order, each once.
func (b *builder) merged() iter.Seq2[*term, error] {
	return func(yield func(*term, error) bool) {
		var heads runHeap
		for i, f := range b.runs {
			r := &run{number: i, in: bufio.NewReaderSize(f, 128<<10)}
			_, err := f.Seek(0, io.SeekStart)
			if err == nil {
				err = r.next()
			}
			if err != nil && !errors.Is(err, io.EOF) {
				yield(nil, err)
				return
			} else if err == nil {
				heads = append(heads, r)
			}
		}
		heap.Init(&heads)
		for len(heads) > 0 {
			t, err := heads.take()
			if !yield(t, err) || err != nil {
				return
			}
		}
	}
}

// run is a sorted file of terms.
type run struct {
	number int
	in     *bufio.Reader
	head   *term
}

// next reads the next term. The file was written by this process a moment ago.
func (r *run) next() error {
	size, err := binary.ReadUvarint(r.in)
	if err != nil {
		return err
	}
	key := make([]byte, size)
	if _, err := io.ReadFull(r.in, key); err != nil {
		return err
	}
	t := &term{key: string(key)}
	var mark, more int
	for _, n := range []*int{&t.count, &t.first, &t.last, &mark, &more} {
		v, err := binary.ReadUvarint(r.in)
		if err != nil {
			return err
		}
		*n = int(v)
	}
	t.mark, t.more = byte(mark), make([]byte, more)
	_, err = io.ReadFull(r.in, t.more)
	r.head = t
	return err
}

// runHeap has the runs by their next terms, and those with the same one in the order of their packs.
type runHeap []*run

func (h runHeap) Len() int { return len(h) }
func (h runHeap) Less(i, j int) bool {
	if a, b := h[i].head.key, h[j].head.key; a != b {
		return a < b
	}
	return h[i].number < h[j].number
}
func (h runHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *runHeap) Push(x any)   { *h = append(*h, x.(*run)) }
func (h *runHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// take returns the next term, put together from all runs that have it.
func (h *runHeap) take() (*term, error) {
	t, err := h.step()
	for err == nil && len(*h) > 0 && (*h)[0].head.key == t.key {
		var more *term
		if more, err = h.step(); err == nil {
			t.join(more)
		}
	}
	return t, err
}

func (h *runHeap) step() (*term, error) {
	r := (*h)[0]
	t := r.head
	switch err := r.next(); {
	case errors.Is(err, io.EOF):
		heap.Pop(h)
	case err != nil:
		return nil, err
	default:
		heap.Fix(h, 0)
	}
	return t, nil
}

// join adds the packs of another run, which come after all of the term's.
func (t *term) join(o *term) {
	switch {
	case o.count == 0:
	case t.count == 0:
		*t = *o
	default:
		t.more = append(appendNumber(t.more, o.first-t.last), o.mark)
		t.more = append(t.more, o.more...)
		t.count, t.last = t.count+o.count, o.last
	}
}
