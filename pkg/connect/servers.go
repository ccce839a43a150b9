package connect

// Servers returns the names of the MCP servers in the configuration files of all known agents. A file that cannot be
// read has none.
func Servers(e Env) map[string]bool {
	names := map[string]bool{}
	for _, a := range Agents() {
		for _, p := range a.servers {
			if p.base == inProject && e.Project == "" {
				continue
			}
			state, err := e.read(p)
			if err != nil || !state.exists {
				continue
			}
			doc, err := open(p.format(), state.data)
			if err != nil {
				continue
			}
			values, err := doc.values()
			if err != nil {
				continue
			}
			entries, _ := lookup(values, p.keys()...)
			servers, _ := entries.(map[string]any)
			for name := range servers {
				names[name] = true
			}
		}
	}
	return names
}
