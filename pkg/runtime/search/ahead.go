package search

import "iter"

// The packs that are read ahead: so many together, and so many times.
const (
	batchSize = 128
	batches   = 4
)

// ahead yields what a sequence does, and reads it in another goroutine: catalogues take as long to parse as to index.
// The goroutine has ended when the sequence has.
func ahead(docs iter.Seq2[Doc, error]) iter.Seq2[Doc, error] {
	type item struct {
		doc Doc
		err error
	}
	return func(yield func(Doc, error) bool) {
		read, stop := make(chan []item, batches), make(chan struct{})
		go func() {
			defer close(read)
			batch := make([]item, 0, batchSize)
			for d, err := range docs {
				if batch = append(batch, item{d, err}); len(batch) < batchSize {
					continue
				}
				select {
				case read <- batch:
				case <-stop:
					return
				}
				batch = make([]item, 0, batchSize)
			}
			select {
			case read <- batch:
			case <-stop:
			}
		}()
		defer func() {
			close(stop)
			for range read { // until it is closed
			}
		}()
		for batch := range read {
			for _, it := range batch {
				if !yield(it.doc, it.err) {
					return
				}
			}
		}
	}
}
