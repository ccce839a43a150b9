package attach

import (
	"bytes"
	"errors"

	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/internal/yamlx"
)

// yamlFile is a YAML file, in which an entry of a mapping at the top can be added, changed and removed.
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

// values returns what the file says. A key that is there twice is an error of the decoder's.
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

// set gives an entry of a mapping at the top its fields: those that differ, if it is there.
func (d *yamlFile) set(value object, path ...string) error {
	if isFlow(d.Root()) || isFlow(yamlx.Lookup(d.Root(), path[0])) || isFlow(yamlx.Lookup(d.Root(), path...)) {
		return errByHand(path)
	}
	values, err := d.values()
	if err != nil {
		return err
	}
	old, ok := lookup(values, keys(path...)...)
	if !ok {
		return d.put(yamlValue(value), path)
	}
	for _, m := range value {
		if now, ok := lookup(old, m.key); ok && same(now, m.value) {
			continue
		}
		if err := d.put(yamlValue(m.value), append(path, m.key)); err != nil {
			return err
		}
	}
	return nil
}

func (d *yamlFile) put(value any, path []string) error {
	if d.Set(value, path...) != nil {
		return errByHand(path)
	}
	return nil
}

func isFlow(n *yaml.Node) bool {
	return n != nil && n.Style&yaml.FlowStyle != 0 && len(n.Content) > 0
}

// yamlValue returns a value as it is written: texts without quotes if they can be, and a mapping with a line for each
// entry.
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

// remove takes an entry out, and the mapping that it was the last of.
func (d *yamlFile) remove(path ...string) error {
	top := yamlx.Lookup(d.Root(), path[0])
	if yamlx.Lookup(top, path[1]) == nil {
		return nil
	}
	if isFlow(d.Root()) || isFlow(top) {
		return errByHand(path)
	}
	if len(top.Content) == 2 {
		path = path[:1]
	}
	if _, err := d.Remove(path...); err != nil {
		return errByHand(path)
	}
	return nil
}
