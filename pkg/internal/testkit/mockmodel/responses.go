package mockmodel

import (
	"encoding/json"
	"io"
	"net/http"
)

// responsesRequest is the part of a request to the Responses API that matters here.
type responsesRequest struct {
	Model        string
	Instructions string
	Input        []item
	Tools        []offered
}

// offered is a tool of the Responses API: a function, a freeform one (custom), a namespace of functions, or one that
// the API runs itself, which has a type only.
type offered struct {
	Type        string
	Name        string
	Description string
	Parameters  json.RawMessage
	Tools       []offered
}

// item is a part of a conversation.
type item struct {
	Type      string
	Role      string
	Content   json.RawMessage
	CallID    string `json:"call_id"`
	Name      string
	Namespace string
	Output    json.RawMessage
}

func (m responsesRequest) request(body []byte) Request {
	r := Request{Model: m.Model, System: m.Instructions, Body: body}
	r.addTools("", m.Tools)
	names := map[string]string{}
	for _, i := range m.Input {
		switch i.Type {
		case "function_call", "custom_tool_call":
			names[i.CallID] = whole(i.Namespace, i.Name)
		case "function_call_output", "custom_tool_call_output":
			r.Results = append(r.Results, Result{Call: i.CallID, Tool: names[i.CallID], Text: text(i.Output)})
		case "message", "":
			r.addText(i.Role, text(i.Content))
		}
	}
	return r
}

// whole is how a script names the tool of a namespace: namespace.name.
func whole(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "." + name
}

// addTools adds tools by their whole names. What a namespace says of itself is told as the system's.
func (r *Request) addTools(namespace string, tools []offered) {
	for _, t := range tools {
		switch {
		case t.Type == "namespace":
			r.addText("system", t.Description)
			r.addTools(t.Name, t.Tools)
		case t.Name == "":
			r.Tools = append(r.Tools, Tool{Name: t.Type})
		default:
			r.Tools = append(r.Tools, Tool{
				Name: whole(namespace, t.Name), Description: t.Description,
				Schema: t.Parameters,
			})
		}
	}
}

// namespaceOf returns the namespace that a tool's whole name begins with, and its name there.
func (m responsesRequest) namespaceOf(tool string) (namespace, name string) {
	for _, t := range m.Tools {
		for _, inner := range t.Tools {
			if t.Type == "namespace" && whole(t.Name, inner.Name) == tool {
				return t.Name, inner.Name
			}
		}
	}
	return "", tool
}

// custom tells whether a tool takes a text instead of an object.
func (m responsesRequest) custom(tool string) bool {
	for _, t := range m.Tools {
		if t.Type == "custom" && t.Name == tool {
			return true
		}
	}
	return false
}

// responses answers a request to the Responses API.
func (s *Server) responses(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var m responsesRequest
	if err == nil {
		err = json.Unmarshal(body, &m)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	step, ids := s.answer(m.request(body))
	out := s.startStream(w)
	out.send("response.created", map[string]any{"response": map[string]any{"id": "resp_1"}})
	for i, it := range s.items(m, step, ids) {
		out.send("response.output_item.done", map[string]any{"output_index": i, "item": it})
	}
	usage := map[string]any{
		"input_tokens": 1000, "input_tokens_details": nil, "output_tokens": 10,
		"output_tokens_details": nil, "total_tokens": 1010,
	}
	out.send("response.completed", map[string]any{"response": map[string]any{"id": "resp_1", "usage": usage}})
}

// items writes a step as the items of an answer. The input of a freeform tool is its "input".
func (s *Server) items(m responsesRequest, step Step, ids []string) []map[string]any {
	var items []map[string]any
	if step.Text != "" || len(step.Calls) == 0 {
		content := []any{map[string]any{"type": "output_text", "text": step.Text}}
		items = append(items, map[string]any{"type": "message", "role": "assistant", "id": "msg_1", "content": content})
	}
	for i, call := range step.Calls {
		if m.custom(call.Tool) {
			items = append(items, map[string]any{
				"type": "custom_tool_call", "call_id": ids[i], "name": call.Tool,
				"input": call.Input["input"],
			})
			continue
		}
		namespace, name := m.namespaceOf(call.Tool)
		it := map[string]any{
			"type": "function_call", "call_id": ids[i], "name": name,
			"arguments": s.encode(call.Input),
		}
		if namespace != "" {
			it["namespace"] = namespace
		}
		items = append(items, it)
	}
	return items
}
