package git

import (
	"context"
	"errors"
	"io"
)

func (p *place) listWithProgram(ctx context.Context) (*refs, error) { return nil, errors.New("todo") }

func (p *place) transferWithProgram(ctx context.Context, w want) (io.ReadCloser, error) {
	return nil, errors.New("todo")
}
