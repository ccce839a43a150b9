package policy

// Canonical returns a source as policies compare it.
func Canonical(text string) (string, error) {
	p, err := parseSource(text)
	return p.text, err
}
