package index

import (
	"bytes"
	"errors"

	"github.com/skillpm/skillpm/pkg/internal/jsonx"
)

// maxDepth is the greatest nesting of JSON in a line, far above what the format needs.
const maxDepth = 16

// checkKeys rejects JSON that is not an object, is nested too deeply, or has duplicate keys, which readers interpret
// differently. The offset is that of the error.
func checkKeys(raw []byte) (offset int, err error) {
	if !bytes.HasPrefix(bytes.TrimLeft(raw, space), []byte("{")) {
		return 0, errors.New("a line must be a JSON object")
	}
	err = jsonx.CheckKeys(raw, jsonx.Options{MaxDepth: maxDepth})
	keyErr, ok := errors.AsType[*jsonx.Error](err)
	switch {
	case !ok:
		return 0, err
	case keyErr.Kind == jsonx.TooDeep:
		err = errors.New("the JSON is nested too deeply")
	}
	return keyErr.Offset, err
}
