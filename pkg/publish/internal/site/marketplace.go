package site

import (
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/skill"
)

// The paths of a Claude Code marketplace: its list, and each plugin's description and skills below the plugin's
// directory.
const (
	marketplacePath = ".claude-plugin/marketplace.json"
	pluginPath      = ".claude-plugin/plugin.json"
)

// Plugin is a pack as a plugin.
type Plugin struct {
	Name        string   `json:"name"`
	Source      string   `json:"source,omitempty"` // only in the list: a path that starts with ./
	Version     string   `json:"version"`
	Description string   `json:"description,omitempty"`
	Author      person   `json:"author"`
	License     string   `json:"license,omitempty"`
	Keywords    []string `json:"keywords,omitempty"`
	Homepage    string   `json:"homepage,omitempty"`
}

type person struct {
	Name string `json:"name"`
}

// Plugin returns a pack as a plugin, with a name from [Site.PluginNames].
func (s *Site) Plugin(id pack.ID, name string) Plugin {
	p := &s.packs[s.index[id]]
	v := p.displayed()
	plugin := Plugin{
		Name: name, Source: "./plugins/" + name, Version: v.Version, Description: short(p.about(), maxDescription),
		Author:  person{id.Owner},
		License: oneLine(p.License), Keywords: p.Tags,
	}
	if s.options.BaseURL != "" {
		plugin.Homepage = s.options.BaseURL + "/" + packPath(id)
	}
	return plugin
}

// File returns the path of the plugin's description.
func (p *Plugin) File() string { return strings.TrimPrefix(p.Source, "./") + "/" + pluginPath }

// WritePlugin writes the plugin's description, below its directory.
func WritePlugin(p Plugin, w Write) error {
	file := p.File()
	p.Source = ""
	return writeJSON(w, file, p)
}

// WriteMarketplace writes the list of plugins.
func (s *Site) WriteMarketplace(plugins []Plugin, w Write) error {
	sorted := slices.SortedFunc(slices.Values(plugins),
		func(a, b Plugin) int { return strings.Compare(a.Name, b.Name) })
	if sorted == nil {
		sorted = []Plugin{}
	}
	name := skill.Slug(s.options.Title)
	if !legal(name) {
		name = "agent-skills"
	}
	return writeJSON(w, marketplacePath, struct {
		Name     string            `json:"name"`
		Owner    person            `json:"owner"`
		Metadata map[string]string `json:"metadata"`
		Plugins  []Plugin          `json:"plugins"`
	}{name, person{s.options.Title}, map[string]string{"description": s.options.Title}, sorted})
}
