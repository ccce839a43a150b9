package hook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/bug"
	"github.com/skillpm/skillpm/pkg/internal/jsonx"
)

// MaxEvent is the maximum size of an event, in bytes. An event contains a file that was read, more than once.
const MaxEvent = 64 << 20

// maxDepth is the maximum nesting of lists and objects in an event.
const maxDepth = 512

// readEvent reads an event to its end or until the time limit, because an agent may keep its end of the pipe open.
func readEvent(ctx context.Context, input io.Reader) ([]byte, error) {
	type received struct {
		data []byte
		err  error
	}
	all := make(chan received, 1)
	bug.Go(func() {
		var data []byte
		err := bug.Catch(func() (err error) { // a panic of this goroutine would end the process without a denial
			data, err = io.ReadAll(io.LimitReader(input, MaxEvent+1))
			return err
		})
		all <- received{data, err}
	})
	select {
	case r := <-all:
		if r.err != nil {
			return nil, fmt.Errorf("cannot read the event: %w", r.err)
		}
		return r.data, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("the event on standard input is incomplete: %w", ctx.Err())
	}
}

// decodeJSON decodes an event. Duplicate keys are an error: agents may use the first value where a decoder takes the
// last.
func decodeJSON(data []byte) (map[string]any, error) {
	switch {
	case len(data) > MaxEvent:
		return nil, diag.Errorf(diag.Invalid, "the event is larger than %d bytes", MaxEvent)
	case len(bytes.TrimSpace(data)) == 0:
		return nil, diag.Errorf(diag.Invalid, "standard input does not contain an event").
			WithHint("write the event as JSON to standard input")
	}
	var v any
	err := jsonx.Decode(data, &v, jsonx.Options{MaxDepth: maxDepth, ExactKeys: true})
	switch jsonx.KindOf(err) {
	case 0:
	case jsonx.NotUTF8:
		return nil, diag.Errorf(diag.Invalid, "the event is not valid UTF-8")
	case jsonx.TrailingData:
		return nil, diag.Errorf(diag.Invalid, "unexpected data after the end of the event")
	case jsonx.TooDeep:
		return nil, diag.Errorf(diag.Invalid,
			"invalid JSON in hook event: it is nested more than %d levels deep", maxDepth)
	case jsonx.Syntax:
		return nil, diag.Errorf(diag.Invalid, "invalid JSON in hook event: %w", errors.Unwrap(err))
	default:
		return nil, diag.Errorf(diag.Invalid, "invalid JSON in hook event: %w", err)
	}
	object, ok := v.(map[string]any)
	if !ok {
		return nil, diag.Errorf(diag.Invalid, "the event is not a JSON object")
	}
	return object, nil
}
