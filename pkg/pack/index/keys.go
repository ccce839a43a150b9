package index

import (
	"bytes"
	"errors"

	"github.com/skillpm/skillpm/pkg/internal/jsonx"
)

// maxDepth bounds the nesting of a line's JSON, which a line of this format does not come near.
const maxDepth = 16

// checkKeys refuses valid JSON that is not an object, is nested too deeply, or has a key twice in an object: two
// readers could take different values from it. The offset is that of what is wrong.
func checkKeys(raw []byte) (offset int, err error) {
	if !bytes.HasPrefix(bytes.TrimLeft(raw, space), []byte("{")) {
		return 0, errors.New("a line is a JSON object")
	}
	err = jsonx.CheckKeys(raw, jsonx.Options{MaxDepth: maxDepth})
	refused, ok := errors.AsType[*jsonx.Error](err)
	switch {
	case !ok:
		return 0, err
	case refused.Kind == jsonx.TooDeep:
		err = errors.New("the JSON is nested too deeply")
	}
	return refused.Offset, err
}
