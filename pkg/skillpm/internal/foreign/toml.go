package foreign

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// isTOML reports whether a file is TOML: dotagents has the only formats that are.
func (f file) isTOML(data []byte) bool {
	name := strings.ToLower(f.name)
	return strings.HasSuffix(name, ".toml") || strings.HasSuffix(name, "agents.lock") && !isJSON(data)
}

// maxTOML is the maximum size of a TOML file, in bytes. The time of the parser grows with the square of the number of
// tables; a lockfile with 1,000 skills is smaller.
const maxTOML = 256 << 10

// toml reads TOML. Values do not have lines.
func (f file) toml(data []byte) (*value, error) {
	if len(data) > maxTOML {
		return nil, f.errorf(nil, "is larger than %d bytes", maxTOML)
	}
	var root map[string]any
	if err := toml.Unmarshal(data, &root); err != nil {
		at := &value{}
		if bad, ok := errors.AsType[*toml.DecodeError](err); ok {
			at.line, _ = bad.Position()
		}
		return nil, f.errorf(at, "%s", printable(strings.TrimPrefix(err.Error(), "toml: ")))
	}
	return f.tomlValue(root, 0)
}

func (f file) tomlValue(v any, depth int) (*value, error) {
	if depth > maxNesting {
		return nil, f.errorf(nil, "lists and tables are nested more than %d levels deep", maxNesting)
	}
	switch v := v.(type) {
	case string:
		return &value{kind: isText, text: v}, nil
	case bool:
		return &value{kind: isBool, text: strconv.FormatBool(v)}, nil
	case int64, float64:
		return &value{kind: isNumber, text: fmt.Sprint(v)}, nil
	case []any:
		list := &value{kind: isList}
		for _, item := range v {
			item, err := f.tomlValue(item, depth+1)
			if err != nil {
				return nil, err
			}
			list.items = append(list.items, item)
		}
		return list, nil
	case map[string]any:
		mapping := &value{kind: isMapping}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			item, err := f.tomlValue(v[key], depth+1)
			if err != nil {
				return nil, err
			}
			mapping.set(key, item)
		}
		return mapping, nil
	default: // dates and times
		return &value{kind: isUnsupported}, nil
	}
}
