package mockmodel

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// generateRequest is the part of a request to Gemini's API (generateContent, v1beta) that matters here.
type generateRequest struct {
	Contents          []content
	SystemInstruction content
	Tools             []struct {
		FunctionDeclarations []struct {
			Name        string
			Description string
			Schema      json.RawMessage `json:"parametersJsonSchema"`
		}
	}
}

// content is what one side said.
type content struct {
	Role  string
	Parts []struct {
		Text         string
		FunctionCall *struct {
			ID   string
			Name string
		}
		FunctionResponse *struct {
			ID       string
			Name     string
			Response json.RawMessage
		}
	}
}

func (m generateRequest) request(model string, body []byte) Request {
	r := Request{Model: model, Body: body}
	for _, p := range m.SystemInstruction.Parts {
		r.addText("system", p.Text)
	}
	for _, group := range m.Tools {
		for _, f := range group.FunctionDeclarations {
			r.Tools = append(r.Tools, Tool(f))
		}
	}
	for _, c := range m.Contents {
		for _, p := range c.Parts {
			if p.FunctionResponse == nil {
				r.addText(c.Role, p.Text)
				continue
			}
			call := p.FunctionResponse.ID
			if call == "" {
				call = strconv.Itoa(len(r.Results))
			}
			r.Results = append(r.Results, Result{
				Call: call, Tool: p.FunctionResponse.Name,
				Text: responseText(p.FunctionResponse.Response),
			})
		}
	}
	return r
}

// responseText is what a function's response says: its output or error, or all of it.
func responseText(raw json.RawMessage) string {
	var r struct{ Output, Error *string }
	if json.Unmarshal(raw, &r) == nil && r.Output != nil {
		return *r.Output
	}
	if r.Error != nil {
		return *r.Error
	}
	return string(raw)
}

// generate answers a request to Gemini's API: POST /v1beta/models/MODEL:METHOD.
func (s *Server) generate(w http.ResponseWriter, r *http.Request) {
	model, method, _ := strings.Cut(r.PathValue("call"), ":")
	body, err := io.ReadAll(r.Body)
	var m generateRequest
	if err == nil {
		err = json.Unmarshal(body, &m)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if method == "countTokens" {
		writeJSON(w, map[string]any{"totalTokens": 1000})
		return
	}
	step, ids := s.answer(m.request(model, body))
	var parts []any
	if step.Text != "" || len(step.Calls) == 0 {
		parts = append(parts, map[string]any{"text": step.Text})
	}
	for i, call := range step.Calls {
		parts = append(parts, map[string]any{"functionCall": map[string]any{
			"id": ids[i], "name": call.Tool,
			"args": call.Input,
		}})
	}
	answer := map[string]any{
		"candidates": []any{map[string]any{
			"index": 0, "finishReason": "STOP",
			"content": map[string]any{"role": "model", "parts": parts},
		}},
		"usageMetadata": map[string]any{"promptTokenCount": 1000, "candidatesTokenCount": 10, "totalTokenCount": 1010},
	}
	if method == "generateContent" {
		writeJSON(w, answer)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, "data: "+s.encode(answer)+"\n\n") // the agent has gone away: its own test will tell
}
