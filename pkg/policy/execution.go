package policy

import "go.yaml.in/yaml/v3"

// Execution says how the scripts, hooks and commands of skills are confined.
type Execution struct{}

// execution reads the section execution.
func (r *reader) execution(e *Execution, v *yaml.Node) {
	r.fields(v, "execution", fields{})
}
