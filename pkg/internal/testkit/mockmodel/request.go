package mockmodel

import (
	"encoding/json"
	"slices"
	"strings"
)

// Request is what a model was asked, in the terms that both APIs share.
type Request struct {
	Conversation string          // the name of the script's conversation that it belongs to, or ""
	Model        string          // the model that was asked for
	System       string          // the system prompt, or the instructions and developer messages
	User         []string        // the texts of the user, which are also where agents put reminders
	Tools        []Tool          // what is offered
	Results      []Result        // what came back of all earlier calls
	Body         json.RawMessage // the whole request
}

// Tool is a tool that a request offers. Schema is the JSON Schema of its input.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage
}

// Result is what came back of a call.
type Result struct {
	Call  string // its identifier
	Tool  string
	Text  string
	Error bool // the agent says that it failed; only the Messages API tells
}

// Offers tells whether a request offers a tool.
func (r Request) Offers(name string) bool { return slices.Contains(r.ToolNames(), name) }

// ToolNames returns the names of the tools that a request offers.
func (r Request) ToolNames() []string {
	names := make([]string, len(r.Tools))
	for i, t := range r.Tools {
		names[i] = t.Name
	}
	return names
}

// Tool returns the offered tool of a name, or none.
func (r Request) Tool(name string) Tool {
	for _, t := range r.Tools {
		if t.Name == name {
			return t
		}
	}
	return Tool{}
}

// SystemText returns all that a request tells the model in words: the system prompt, the user's texts, and the tools'
// descriptions.
func (r Request) SystemText() string {
	words := append([]string{r.System}, r.User...)
	for _, t := range r.Tools {
		words = append(words, t.Name+": "+t.Description)
	}
	return strings.Join(words, "\n")
}

// text reads what both APIs write either as a string, or as a list of parts with a text.
func text(raw json.RawMessage) string {
	var plain string
	if json.Unmarshal(raw, &plain) == nil {
		return plain
	}
	var parts []struct{ Text string }
	if json.Unmarshal(raw, &parts) != nil {
		return string(raw)
	}
	texts := make([]string, 0, len(parts))
	for _, p := range parts {
		if p.Text != "" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}
