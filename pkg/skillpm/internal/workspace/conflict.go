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

// String explains the conflict.
func (c NameConflict) String() string {
	facts := make([]string, 0, len(c.Others)+1)
	if c.Winner != "" {
		facts = append(facts, fmt.Sprintf("the name is now %s's", c.Winner))
	}
	for _, id := range slices.Sorted(maps.Keys(c.Others)) {
		facts = append(facts, fmt.Sprintf("%s's is %s for agents (%s@%s names it exactly)",
			id, c.Others[id], c.Name, id))
	}
	return fmt.Sprintf("several packs have a skill %q: %s", c.Name, strings.Join(facts, "; "))
}
