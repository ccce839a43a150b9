package lint

import (
	"sort"
	"sync"

	"github.com/skillpm/skillpm/pkg/internal/markdown"
)

// page is a Markdown file of a skill.
type page struct {
	*markdown.Page
	src *source
}

// readers are kept between pages, with their memory.
type readers struct{ pool sync.Pool }

// read reads the Markdown of a file from an offset on.
func (r *readers) read(src *source, from int) *page {
	reader, ok := r.pool.Get().(*markdown.Reader)
	if !ok {
		reader = new(markdown.Reader)
	}
	defer r.pool.Put(reader)
	return &page{reader.Read(src.data, from), src}
}

// inBlock reports whether a byte of the file is in a code block.
func (p *page) inBlock(offset int) bool {
	i := sort.Search(len(p.Blocks), func(i int) bool { return p.Blocks[i].End > offset })
	return i < len(p.Blocks) && p.Blocks[i].Offset <= offset
}
