package mcpserver

import (
	"context"
	"fmt"
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
	served, own, err := v.split(ctx)
	if err != nil {
		return failure(err)
	}
	entries := append(served, own...)
	docs := make([]catalog.Candidate, len(entries))
	for i, e := range entries {
		docs[i] = catalog.Candidate{Name: e.Name, Description: e.Description, WhenToUse: e.WhenToUse, Tags: e.Tags}
	}
	matches, err := catalog.FindMatches(values["task"], docs)
	if err != nil {
		return failure(err)
	}
	var fit, near []prompt.Entry
	more, isOwn := 0, map[string]bool{}
	for _, e := range own {
		isOwn[e.Location] = true
	}
	for _, h := range matches {
		switch {
		case h.Score >= catalog.MatchThreshold && len(fit) == maxMatches:
			more++
		case h.Score >= catalog.MatchThreshold:
			fit = append(fit, entries[h.Index])
		case len(near) < maxNearest:
			near = append(near, entries[h.Index])
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
		text = fmt.Sprintf("None of the %d skills matches the task. The closest skills are:\n%s", len(entries), text)
	default:
		text = fmt.Sprintf("None of the %d skills contains a word of the task.", len(entries))
	}
	if err != nil {
		return failure(err)
	}
	names := make([]string, len(fit))
	for i, e := range fit {
		names[i] = audit.Suggestion(e.Name, e.Pack)
	}
	if _, err := v.host.Session().Found(names); err != nil { // a policy requires the record
		return failure(err)
	}
	listed := near
	if len(fit) > 0 {
		listed = fit
	}
	return textResult("found", text+v.howToLoad(listed, isOwn))
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
