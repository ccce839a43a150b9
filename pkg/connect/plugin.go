package connect

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// OpenCode does not run commands as hooks: it loads plugins in JavaScript. Its hooks are a plugin that skillpm writes,
// a file of its own, which sends each event to "skillpm hook" as other agents do.

//go:embed opencode.js
var openCodePlugin string

// pluginText is the key of a plugin's text in its decoded file.
const pluginText = "text"

// pluginFile is a file that consists of one plugin.
type pluginFile struct{ text }

func newPlugin(data []byte) *pluginFile { return &pluginFile{newText(data)} }

func (d *pluginFile) bytes() []byte     { return d.data }
func (d *pluginFile) splices() []splice { return d.log }
func (d *pluginFile) empty() bool       { return len(strings.TrimSpace(string(d.data))) == 0 }

// values returns the text, nothing for an empty file.
func (d *pluginFile) values() (map[string]any, error) {
	if d.empty() {
		return map[string]any{}, nil
	}
	return map[string]any{pluginText: string(d.data)}, nil
}

// set replaces the whole text.
func (d *pluginFile) set(value any, _ ...any) error {
	s, ok := value.(string)
	if !ok {
		return fmt.Errorf("a plugin is a text, not %T", value)
	}
	d.replace(0, len(d.data), s)
	return nil
}

func (d *pluginFile) prune(...any) error {
	d.replace(0, len(d.data), "")
	return nil
}

// plugin returns the text of the wanted plugin.
func (p plan) plugin() string {
	program, err := json.Marshal(p.program)
	if err != nil {
		return "" // no string fails
	}
	text := strings.Replace(openCodePlugin, `const program = "skillpm"`, "const program = "+string(program), 1)
	return strings.Replace(text, "const failClosed = true", "const failClosed = "+strconv.FormatBool(p.closed), 1)
}

// pluginParts matches the lines of a plugin of skillpm that differ between installations.
var pluginParts = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^// skillpm connect [^\n]* --agent ([a-z-]+)$[\s\S]*^const program = (".*")$\s*` +
		`^const failClosed = (true|false)`)
})

// pluginHook parses a plugin as a hook. Its program is "" if skillpm did not write the plugin.
func (p plan) pluginHook(values map[string]any) hookEntry {
	text, _ := values[pluginText].(string)
	m := pluginParts().FindStringSubmatch(text)
	var program string
	if m == nil || m[1] != p.agent.ID || json.Unmarshal([]byte(m[2]), &program) != nil || !p.isOurs(program) {
		return hookEntry{}
	}
	return hookEntry{path: []any{pluginText}, line: text, program: program, closed: m[3] == "true"}
}

// pluginState is state for a plugin.
func (p plan) pluginState(values map[string]any) (s State, why string) {
	switch f := p.pluginHook(values); {
	case len(values) == 0:
		return Missing, ""
	case f.program == "":
		return Foreign, "skillpm did not create the plugin"
	case f.program != p.program:
		return Stale, "the plugin starts " + f.program
	case f.line != p.plugin():
		return Stale, "the plugin is of another version of skillpm"
	}
	return Installed, ""
}
