package mockmodel

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
)

// messagesRequest is the part of a request to the Messages API (version 2023-06-01) that matters here.
type messagesRequest struct {
	Model  string
	Stream bool
	System json.RawMessage
	Tools  []struct {
		Name        string
		Description string
		Schema      json.RawMessage `json:"input_schema"`
	}
	Messages []struct {
		Role    string
		Content json.RawMessage
	}
}

// block is a part of a message.
type block struct {
	Type      string
	Text      string
	ID        string
	Name      string
	ToolUseID string `json:"tool_use_id"`
	Content   json.RawMessage
	IsError   bool `json:"is_error"`
}

func (m messagesRequest) request(body []byte) Request {
	r := Request{Model: m.Model, System: text(m.System), Body: body}
	for _, t := range m.Tools {
		r.Tools = append(r.Tools, Tool(t))
	}
	names := map[string]string{}
	for _, message := range m.Messages {
		var plain string
		if json.Unmarshal(message.Content, &plain) == nil {
			r.addText(message.Role, plain)
			continue
		}
		var blocks []block
		_ = json.Unmarshal(message.Content, &blocks) // other values have no parts
		for _, b := range blocks {
			switch b.Type {
			case "text":
				r.addText(message.Role, b.Text)
			case "tool_use":
				names[b.ID] = b.Name
			case "tool_result":
				r.Results = append(r.Results, Result{
					Call: b.ToolUseID, Tool: names[b.ToolUseID], Text: text(b.Content),
					Error: b.IsError,
				})
			}
		}
	}
	return r
}

func (r *Request) addText(role, words string) {
	switch role {
	case "user":
		r.User = append(r.User, words)
	case "system", "developer":
		r.System = strings.TrimPrefix(r.System+"\n"+words, "\n")
	}
}

// messages answers a request to the Messages API.
func (s *Server) messages(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var m messagesRequest
	if err == nil {
		err = json.Unmarshal(body, &m)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	step, ids := s.answer(m.request(body))
	content, reason := blocks(step, ids)
	usage := map[string]any{"input_tokens": 1000, "output_tokens": 10}
	message := map[string]any{
		"id": "msg_1", "type": "message", "role": "assistant", "model": m.Model, "content": content,
		"stop_reason": reason, "stop_sequence": nil, "usage": usage,
	}
	if !m.Stream {
		writeJSON(w, message)
		return
	}
	message["content"], message["stop_reason"] = []any{}, nil
	out := s.startStream(w)
	out.send("message_start", map[string]any{"message": message})
	for i, b := range content {
		start, delta := s.parts(b)
		out.send("content_block_start", map[string]any{"index": i, "content_block": start})
		out.send("content_block_delta", map[string]any{"index": i, "delta": delta})
		out.send("content_block_stop", map[string]any{"index": i})
	}
	out.send("message_delta", map[string]any{
		"delta": map[string]any{"stop_reason": reason, "stop_sequence": nil},
		"usage": usage,
	})
	out.send("message_stop", map[string]any{})
}

// blocks writes a step as the content of a message.
func blocks(step Step, ids []string) (content []map[string]any, reason string) {
	if step.Text != "" || len(step.Calls) == 0 {
		content = append(content, map[string]any{"type": "text", "text": step.Text})
	}
	reason = "end_turn"
	for i, call := range step.Calls {
		content = append(content, map[string]any{
			"type": "tool_use", "id": ids[i], "name": call.Tool,
			"input": call.Input,
		})
		reason = "tool_use"
	}
	return content, reason
}

// parts splits a block into what starts it in a stream, and what fills it.
func (s *Server) parts(b map[string]any) (start, delta map[string]any) {
	if b["type"] == "text" {
		return map[string]any{"type": "text", "text": ""}, map[string]any{"type": "text_delta", "text": b["text"]}
	}
	return map[string]any{"type": "tool_use", "id": b["id"], "name": b["name"], "input": map[string]any{}},
		map[string]any{"type": "input_json_delta", "partial_json": s.encode(b["input"])}
}
