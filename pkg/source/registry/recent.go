package registry

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/skillpm/skillpm/pkg/source/internal/memo"
)

// Recent caches the answers of HTTPS indexes for a short time, so that several sets in one process request each file
// once. It is safe for concurrent use.
type Recent struct {
	files memo.Map[string, recentFile]
}

// recentFile is a file of an index, or its absence.
type recentFile struct {
	data    []byte
	missing bool
}

// RecentFor is how long an answer counts as recent: the duration of one command.
const RecentFor = 15 * time.Second

// NewRecent returns a cache that keeps answers for [RecentFor] by the given clock.
func NewRecent(now func() time.Time) *Recent {
	return &Recent{files: memo.Map[string, recentFile]{Now: now, Keep: RecentFor}}
}

// read returns a recent answer, or calls fetch. A nil Recent always calls fetch.
func (r *Recent) read(ctx context.Context, url string, ask func(context.Context) ([]byte, error)) ([]byte, error) {
	if r == nil {
		return ask(ctx)
	}
	file, err := r.files.Get(ctx, url, func(ctx context.Context) (recentFile, error) {
		data, err := ask(ctx)
		if errors.Is(err, fs.ErrNotExist) {
			return recentFile{missing: true}, nil
		}
		return recentFile{data: data}, err
	})
	if err == nil && file.missing {
		err = fs.ErrNotExist
	}
	return file.data, err
}
