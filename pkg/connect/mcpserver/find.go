package mcpserver

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skillpm/skillpm/pkg/policy/audit"
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
	"github.com/skillpm/skillpm/pkg/runtime/prompt"
	"github.com/skillpm/skillpm/pkg/skill/profile"
)

// The maximum numbers of skills: of those that match, and of the nearest ones if none matches.
const (
	maxMatches = 8
	maxNearest = 3
)

// find returns the skills that match a task.
func (v *serving) find(ctx context.Context, args arguments) *mcp.CallToolResult {
	values, err := toolArguments(v.view.Trigger.Find, args)
	if err != nil {
		return failure(err)
	}
	entries, own, matches, err := v.matches(ctx, values["task"])
	if err != nil {
		return failure(err)
	}
	var fit, near []prompt.Entry
	more, isOwn := 0, map[string]bool{}
	for _, e := range own {
		isOwn[e.Location] = true
	}
	for _, m := range matches {
		switch {
		case m.score >= catalog.MatchThreshold && len(fit) == maxMatches:
			more++
		case m.score >= catalog.MatchThreshold:
			fit = append(fit, m.entry)
		case len(near) < maxNearest:
			near = append(near, m.entry)
		}
	}
	var text string
	switch {
	case len(fit) > 0:
		text, err = v.listText(fit)
		if more > 0 {
			text += fmt.Sprintf("\n\nMatching skills that are not listed: %d. Add words to the task to find them.", more)
		}
	case len(near) > 0:
		text, err = v.listText(near)
		text = fmt.Sprintf("None of the %d skills matches the task. The closest skills are:\n%s", entries, text)
	default:
		text = fmt.Sprintf("None of the %d skills contains a word of the task.", entries)
	}
	if err != nil {
		return failure(err)
	}
	names := make([]string, len(fit))
	for i, e := range fit {
		names[i] = audit.Suggestion(e.Name, e.Pack)
	}
	if _, err := v.host.Session().RecordFound(names); err != nil { // a policy requires the record
		return failure(err)
	}
	listed := near
	if len(fit) > 0 {
		listed = fit
	}
	return textResult("found", text+v.howToLoad(listed, isOwn))
}

// entryMatch is a skill that matches a task.
type entryMatch struct {
	entry prompt.Entry
	score float64
}

// matches returns the skills that a model may load and that share words with a task, the best first. It also returns
// the number of these skills, and those that the agent reads itself.
func (v *serving) matches(ctx context.Context, task string) (all int, own []prompt.Entry, list []entryMatch, err error) {
	served, own, err := v.split(ctx)
	if err != nil {
		return 0, nil, nil, err
	}
	entries := map[string]prompt.Entry{} // by directory
	for _, e := range slices.Concat(served, own) {
		entries[e.Dir] = e
	}
	c, err := v.host.Catalog(ctx)
	if err != nil {
		return 0, nil, nil, err
	}
	finder, err := c.Finder(ctx)
	if err != nil {
		return 0, nil, nil, err
	}
	defer finder.Close()
	found, err := finder.Find(task)
	if err != nil {
		return 0, nil, nil, err
	}
	for _, m := range found.Matches {
		if e, ok := entries[c.Skills()[m.Index].Dir]; ok {
			list = append(list, entryMatch{e, m.Score})
		}
	}
	return len(served) + len(own), own, list, nil
}

// howToLoad tells the model how to load the skills that its agent reads itself.
func (v *serving) howToLoad(listed []prompt.Entry, isOwn map[string]bool) string {
	var b strings.Builder
	for _, e := range listed {
		if isOwn[e.Location] {
			fmt.Fprintf(&b, "\n- %s: %s", e.Name, e.Location)
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "\n\nLoad these as your own skills:" + b.String()
}

// listText formats skills as in the profile's listing, without the text around the list.
func (v *serving) listText(entries []prompt.Entry) (string, error) {
	var lines []string
	p := *v.view
	p.Stage1.Heading, p.Stage1.Closing, p.Stage1.Budget = "", "", profile.Budget{}
	for _, e := range entries { // one by one, to keep the best first
		l, err := prompt.List(&p, []prompt.Entry{e}, prompt.Options{})
		if err != nil {
			return "", err
		}
		lines = append(lines, l.Text)
	}
	return strings.Join(lines, "\n"), nil
}
