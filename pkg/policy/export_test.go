package policy

import "github.com/skillpm/skillpm/pkg/internal/yamlx"

// WithoutLines returns a policy that knows nothing of its file.
func WithoutLines(p *Policy) *Policy {
	q := *p
	q.root = yamlx.Value{}
	return &q
}

// Canonical returns a source as policies compare it.
func Canonical(text string) (string, error) {
	p, err := parseSource(text)
	return p.text, err
}
