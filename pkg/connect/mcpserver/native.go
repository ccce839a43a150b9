package mcpserver

import (
	_ "embed"
	"fmt"

	"github.com/skillpm/skillpm/pkg/internal/yamlx"
	"github.com/skillpm/skillpm/pkg/runtime"
	"github.com/skillpm/skillpm/pkg/skill/profile"
)

//go:embed native.yaml
var nativeText []byte

// forms are skillpm's own names and formats.
type forms struct {
	Trigger    profile.Trigger    `yaml:"trigger"`
	Run        profile.Tool       `yaml:"run"`
	End        profile.Tool       `yaml:"end"`
	Stage1     profile.Stage1     `yaml:"stage1"`
	Activation profile.Activation `yaml:"activation"`
	Limits     []profile.Limits   `yaml:"limits"`
}

func nativeForms() (*forms, error) {
	f := new(forms)
	if err := yamlx.Unmarshal(nativeText, f); err != nil {
		return nil, fmt.Errorf("native.yaml: %w", err)
	}
	return f, nil
}

// viewOf returns the profile with skillpm's own names and formats, or with its agent's. If the agent has no tool for a
// purpose, skillpm's is used.
func (s *Server) viewOf(h *runtime.Host) *profile.Profile {
	p := *h.Profile()
	if !s.o.HostNames {
		message, notice := p.Trigger.Message, p.Activation.Notice
		p.Trigger, p.Stage1, p.Activation = s.native.Trigger, s.native.Stage1, s.native.Activation
		p.Limits = s.native.Limits
		p.Trigger.Message, p.Activation.Notice = message, notice
		return &p
	}
	if s.onlyOwn(&p) {
		return &p
	}
	if p.Trigger.Skill.Takes("skill") == "" && !s.takesLines(&p) { // an agent that loads skills by lines of text
		p.Trigger.Skill = s.native.Trigger.Skill
	}
	if p.Trigger.File.Name == "" {
		p.Trigger.File = s.native.Trigger.File
	}
	if p.Trigger.Find.Name == "" {
		p.Trigger.Find = s.native.Trigger.Find
	}
	return &p
}
