package attach

// obstacles says what keeps a host from honouring what its configuration says, as far as that can be told.
func (e Env) obstacles(p plan, values map[string]any) []string {
	var notes []string
	if next := p.host.next[p.kind]; next != "" {
		notes = append(notes, next)
	}
	return notes
}
