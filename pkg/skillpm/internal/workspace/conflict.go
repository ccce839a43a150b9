package workspace

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/pack"
)

// NameConflict reports that several packs have a skill of one name.
type NameConflict struct {
	Name   string            `json:"name"`
	Winner string            `json:"winner"` // the pack whose skill has the name, "" if none
	Others map[string]string `json:"others"` // pack -> the name its skill has instead
}

// NewNameConflict returns a conflict with the names of packs as text.
func NewNameConflict(c pack.Conflict) NameConflict {
	n := NameConflict{Name: c.Name, Others: map[string]string{}}
	if !c.Winner.IsZero() {
		n.Winner = c.Winner.String()
	}
	for id, alias := range c.Losers {
		n.Others[id.String()] = alias
	}
	return n
}

// String describes the conflict: which skill has the name, and which names the others have.
func (c NameConflict) String() string {
	others := slices.Sorted(maps.Keys(c.Others))
	facts := make([]string, 0, len(others)+1)
	if c.Winner != "" {
		facts = append(facts, fmt.Sprintf("%q refers to the skill from %s", c.Name, c.Winner))
	}
	for _, id := range others {
		facts = append(facts, fmt.Sprintf("the skill from %s is available as %s", id, c.Others[id]))
	}
	return fmt.Sprintf("several packs have a skill %q: %s", c.Name, strings.Join(facts, "; "))
}

// Hint shows how to choose another name, "" if no skill has another name than its own.
func (c NameConflict) Hint() string {
	others := slices.Sorted(maps.Keys(c.Others))
	if len(others) == 0 {
		return ""
	}
	return fmt.Sprintf("choose another name with: skillpm install %s --skill %s --as NAME", others[0], c.Name)
}
