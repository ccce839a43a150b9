package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/skillpm/skillpm/pkg/diag"
)

// MaxEvent is how many bytes an event may have: those of a file that was read are in it, more than once.
const MaxEvent = 64 << 20

// maxDepth is how deep lists and objects of an event may be inside each other.
const maxDepth = 512

// readEvent reads an event to its end, but no longer than there is time: a host may leave its end of the pipe open.
func readEvent(ctx context.Context, from io.Reader) ([]byte, error) {
	type received struct {
		data []byte
		err  error
	}
	all := make(chan received, 1)
	go func() {
		data, err := io.ReadAll(io.LimitReader(from, MaxEvent+1))
		all <- received{data, err}
	}()
	select {
	case r := <-all:
		if r.err != nil {
			return nil, fmt.Errorf("the event cannot be read: %w", r.err)
		}
		return r.data, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("the event does not end: %w", ctx.Err())
	}
}

// decodeJSON returns the object that an event is. What can be read in two ways is not read: a key that is there twice, text that is
// no UTF-8, something after its end.
func decodeJSON(data []byte) (map[string]any, error) {
	switch {
	case len(data) > MaxEvent:
		return nil, diag.Errorf(diag.Invalid, "the event has more than %d bytes", MaxEvent)
	case len(bytes.TrimSpace(data)) == 0:
		return nil, diag.Errorf(diag.Invalid, "there is no event on standard input").WithHint("a host writes one there; it is JSON")
	case !utf8.Valid(data):
		return nil, diag.Errorf(diag.Invalid, "the event is no UTF-8")
	}
	r := reader{dec: json.NewDecoder(bytes.NewReader(data))}
	v, err := r.value(0)
	if err != nil {
		return nil, diag.Errorf(diag.Invalid, "the event is no JSON that can be relied upon: %w", invalidEvent(err))
	}
	if _, err := r.dec.Token(); !errors.Is(err, io.EOF) {
		return nil, diag.Errorf(diag.Invalid, "something follows the end of the event")
	}
	object, ok := v.(map[string]any)
	if !ok {
		return nil, diag.Errorf(diag.Invalid, "the event is not a JSON object")
	}
	return object, nil
}

// invalidEvent says of an end that it was not expected.
func invalidEvent(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// reader reads JSON token by token, because a decoder takes the last of two values of a key, and hosts may take the first.
type reader struct{ dec *json.Decoder }

func (r reader) value(depth int) (any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("it is more than %d levels deep", maxDepth)
	}
	t, err := r.dec.Token()
	if err != nil {
		return nil, err
	}
	switch t {
	case json.Delim('{'):
		return r.object(depth + 1)
	case json.Delim('['):
		return r.list(depth + 1)
	}
	return t, nil
}

func (r reader) object(depth int) (map[string]any, error) {
	out := map[string]any{}
	for r.dec.More() {
		t, err := r.dec.Token()
		if err != nil {
			return nil, err
		}
		key, ok := t.(string)
		if !ok {
			return nil, errors.New("a key is no text")
		}
		if _, twice := out[key]; twice {
			return nil, fmt.Errorf("the key %q is there twice", key)
		}
		if out[key], err = r.value(depth); err != nil {
			return nil, err
		}
	}
	_, err := r.dec.Token()
	return out, err
}

func (r reader) list(depth int) ([]any, error) {
	out := []any{}
	for r.dec.More() {
		v, err := r.value(depth)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	_, err := r.dec.Token()
	return out, err
}
