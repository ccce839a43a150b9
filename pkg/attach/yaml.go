package attach

import "fmt"

// yamlFile is a YAML file.
type yamlFile struct{ text }

func newYAML(data []byte) (*yamlFile, error) { return nil, fmt.Errorf("not yet") }

func (d *yamlFile) bytes() []byte                          { return d.data }
func (d *yamlFile) splices() []splice                      { return d.log }
func (d *yamlFile) empty() bool                            { return false }
func (d *yamlFile) values() (map[string]any, error)        { return nil, nil }
func (d *yamlFile) set(value object, path ...string) error { return nil }
func (d *yamlFile) remove(path ...string) error            { return nil }
