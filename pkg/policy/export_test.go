package policy

import "github.com/skillpm/skillpm/pkg/internal/yamlx"

// WithoutLines returns a policy without line numbers.
func WithoutLines(p *Policy) *Policy {
	q := *p
	q.root = yamlx.Value{}
	return &q
}

// Canonical returns a source in the form that policies compare.
func Canonical(text string) (string, error) {
	p, err := parseSource(text)
	return p.text, err
}
