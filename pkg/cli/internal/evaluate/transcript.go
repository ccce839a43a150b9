package evaluate

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
)

// transcript collects what the output of an agent shows about a run.
type transcript struct {
	output    string   // the final message
	activated []string // names of skills
	toolCalls int
	denials   int
	input     *int64 // tokens
	generated *int64
	cost      *float64
	model     string
	failure   string // why the agent could not answer
	timedOut  bool
}

// skillFile matches the path of a SKILL.md in the input of a tool, to find skills whose instructions are read.
var skillFile = regexp.MustCompile(`([^/\\\s"'=:*?]+)[/\\]+SKILL\.md\b`)

// activate records the activation of a skill.
func (t *transcript) activate(name string) {
	if name != "" && !slices.Contains(t.activated, name) {
		t.activated = append(t.activated, name)
	}
}

// call records a tool call with its input.
func (t *transcript) call(input []byte) {
	t.toolCalls++
	for _, found := range skillFile.FindAllSubmatch(input, -1) {
		t.activate(string(found[1]))
	}
}

func (t *transcript) addTokens(input, generated int64) {
	add := func(sum **int64, n int64) {
		if *sum == nil {
			*sum = new(int64)
		}
		**sum += n
	}
	add(&t.input, input)
	add(&t.generated, generated)
}

// claudeEvent reads an event of Claude Code's output format stream-json.
func claudeEvent(t *transcript, line []byte) {
	var e struct {
		Type, Subtype, Model string
		Message              struct {
			Content json.RawMessage
		}
		Result  string
		IsError bool     `json:"is_error"`
		Cost    *float64 `json:"total_cost_usd"`
		Usage   *struct {
			Input      int64 `json:"input_tokens"`
			CacheWrite int64 `json:"cache_creation_input_tokens"`
			CacheRead  int64 `json:"cache_read_input_tokens"`
			Output     int64 `json:"output_tokens"`
		}
		Denials []json.RawMessage `json:"permission_denials"`
	}
	if json.Unmarshal(line, &e) != nil {
		return
	}
	switch e.Type {
	case "system":
		if e.Subtype == "init" {
			t.model = e.Model
		}
	case "assistant":
		t.claudeMessage(e.Message.Content)
	case "result":
		t.output, t.cost, t.denials = e.Result, e.Cost, len(e.Denials)
		if u := e.Usage; u != nil {
			t.addTokens(u.Input+u.CacheWrite+u.CacheRead, u.Output)
		}
		if e.IsError && e.Subtype != "error_max_turns" {
			t.failure = e.Result
			if t.failure == "" {
				t.failure = e.Subtype
			}
		}
	}
}

func (t *transcript) claudeMessage(content []byte) {
	var blocks []struct {
		Type, Name string
		Input      json.RawMessage
	}
	if json.Unmarshal(content, &blocks) != nil {
		return
	}
	for _, b := range blocks {
		if b.Type != "tool_use" {
			continue
		}
		t.call(b.Input)
		var input struct{ Skill string }
		if b.Name == "Skill" && json.Unmarshal(b.Input, &input) == nil {
			t.activate(input.Skill)
		}
	}
}

// codexEvent reads an event of "codex exec --json". Codex does not have a tool for skills: its model reads SKILL.md.
func codexEvent(t *transcript, line []byte) {
	var e struct {
		Type    string
		Message string
		Item    struct {
			Type, Text, Status, Message string
		}
		Usage struct {
			Input  int64 `json:"input_tokens"`
			Output int64 `json:"output_tokens"`
		}
		Error struct{ Message string }
	}
	if json.Unmarshal(line, &e) != nil {
		return
	}
	switch e.Type {
	case "item.completed":
		switch e.Item.Type {
		case "agent_message":
			t.output = e.Item.Text
		case "command_execution", "file_change", "mcp_tool_call", "web_search", "collab_tool_call":
			t.codexCall(line)
			if e.Item.Status == "declined" {
				t.denials++
			}
		}
	case "turn.completed":
		t.addTokens(e.Usage.Input, e.Usage.Output)
		t.failure = "" // an error before, such as a lost connection, did not end the turn
	case "turn.failed":
		t.failure = e.Error.Message
	case "error":
		t.failure = e.Message
	}
}

// codexCall records a tool call by its input: the output of a command may name other skills.
func (t *transcript) codexCall(line []byte) {
	var e struct {
		Item struct {
			Command   string
			Arguments json.RawMessage
		}
	}
	_ = json.Unmarshal(line, &e) // the same line was valid before
	t.call(append([]byte(e.Item.Command+"\n"), e.Item.Arguments...))
}

// codexModel finds the model in the log of the session: the events do not have it.
func codexModel(t *transcript, home string) {
	root, err := os.OpenRoot(filepath.Join(home, ".codex", "sessions"))
	if err != nil {
		return
	}
	defer root.Close()
	_ = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := root.ReadFile(name)
		for line := range bytes.Lines(data) {
			var e struct {
				Type    string
				Payload struct{ Model string }
			}
			if json.Unmarshal(line, &e) == nil && e.Type == "turn_context" && e.Payload.Model != "" {
				t.model = e.Payload.Model
				return fs.SkipAll
			}
		}
		return err
	})
}

// geminiEvent reads an event of Gemini CLI's output format stream-json.
func geminiEvent(t *transcript, line []byte) {
	var e struct {
		Type, Role, Content, Model, Status string
		Delta                              bool
		Tool                               string `json:"tool_name"`
		Parameters                         json.RawMessage
		Error                              struct{ Type, Message string }
		Stats                              *struct {
			Input  int64 `json:"input_tokens"`
			Output int64 `json:"output_tokens"`
		}
	}
	if json.Unmarshal(line, &e) != nil {
		return
	}
	switch e.Type {
	case "init":
		t.model = e.Model
	case "message":
		switch {
		case e.Role != "assistant":
		case e.Delta:
			t.output += e.Content
		default:
			t.output = e.Content
		}
	case "tool_use":
		t.output = "" // what follows is the final message
		t.call(e.Parameters)
		var input struct{ Name string }
		if e.Tool == "activate_skill" && json.Unmarshal(e.Parameters, &input) == nil {
			t.activate(input.Name)
		}
	case "tool_result":
		if e.Error.Type == "policy_violation" || e.Error.Type == "tool_not_registered" {
			t.denials++
		}
	case "result":
		if e.Stats != nil {
			t.addTokens(e.Stats.Input, e.Stats.Output)
		}
		if e.Status == "error" {
			t.failure = e.Error.Message
		}
	}
}
