package connect

import (
	"bytes"
	"errors"

	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/internal/yamlx"
)

// yamlFile is a YAML file in which an entry of a top-level mapping can be added, changed, and removed.
type yamlFile struct{ *yamlx.Editor }

func newYAML(data []byte) (*yamlFile, error) {
	e, err := yamlx.NewEditor("", data)
	if err != nil {
		return nil, err
	}
	d := &yamlFile{e}
	_, err = d.values()
	return d, err
}

func (d *yamlFile) bytes() []byte     { return d.Bytes() }
func (d *yamlFile) splices() []splice { return d.Splices() }
func (d *yamlFile) empty() bool       { return len(bytes.TrimSpace(bytes.TrimPrefix(d.Bytes(), bom))) == 0 }

// values returns the decoded file. The decoder refuses duplicate keys.
func (d *yamlFile) values() (map[string]any, error) {
	values := map[string]any{}
	if d.Root() == nil {
		return values, nil
	}
	if err := d.Root().Decode(&values); err != nil {
		return nil, errors.New(yamlx.Message(err))
	}
	return values, nil
}

// set writes an entry of a top-level mapping, or a field of such an entry.
func (d *yamlFile) set(value any, path ...any) error {
	names := texts(path)
	if isFlow(d.Root()) || isFlow(yamlx.Lookup(d.Root(), names[0])) || isFlow(yamlx.Lookup(d.Root(), names[:2]...)) ||
		d.Set(yamlValue(value), names...) != nil {
		return errNotEditable(names[:2])
	}
	return nil
}

func isFlow(n *yaml.Node) bool {
	return n != nil && n.Style&yaml.FlowStyle != 0 && len(n.Content) > 0
}

// yamlValue formats a value: strings without quotes if possible, and mappings with one line per entry.
func yamlValue(value any) any {
	switch v := value.(type) {
	case string:
		return yamlx.Word(v)
	case []string:
		list := make([]any, len(v))
		for i, s := range v {
			list[i] = s
		}
		return list
	case object:
		var block yamlx.Block
		for _, m := range v {
			block = append(block, yamlx.Entry{Key: m.key, Value: yamlValue(m.value)})
		}
		return block
	}
	return value
}

// prune removes an entry, and its mapping if that is empty then.
func (d *yamlFile) prune(path ...any) error {
	names := texts(path)
	top := yamlx.Lookup(d.Root(), names[0])
	if yamlx.Lookup(top, names[1]) == nil {
		return nil
	}
	if len(top.Content) == 2 {
		names = names[:1]
	}
	if isFlow(d.Root()) || isFlow(top) {
		return errNotEditable(texts(path))
	}
	if _, err := d.Remove(names...); err != nil {
		return errNotEditable(texts(path))
	}
	return nil
}
