// Package mockmodel is a model for tests of real agents: a server on the loopback that speaks Anthropic's Messages API,
// OpenAI's Responses API and Gemini's, answers with what a script says, and remembers what it was asked. An agent that
// is pointed at it runs whole, with its own tools, hooks and MCP clients; the script only decides which tools are
// called.
//
// Rules:
//   - A script has a conversation for each agent of a session: the session's own, and those of its subagents. A request
//     belongs to the conversation whose name is in its user's words, as [name]; of several, to the one that is named
//     first.
//   - Each request of a conversation is answered with its next step, and with a closing text when there are none left.
//   - A request that belongs to no conversation (agents ask for titles and summaries, too) gets a short text.
//   - A tool that the request does not offer is not called by accident: that is an error of the script, and fails the
//     test.
package mockmodel

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Script is what the model does: the steps of each conversation, by its name.
type Script map[string][]Step

// Step is one answer of the model: a text, and tools that it calls. An answer without calls ends the agent's turn.
// Decide, if it is there, makes the step from the request, for what only the agent can tell: the number of a shell.
type Step struct {
	Text   string
	Calls  []Call
	Decide func(Request) Step
}

// Say is a step that ends the turn with a text.
func Say(text string) Step { return Step{Text: text} }

// Use is a step that calls one tool.
func Use(tool string, input map[string]any) Step {
	return Step{Calls: []Call{{Tool: tool, Input: input}}}
}

// Call is a tool that the model calls. Unoffered lets it be called though the request does not offer it, as a confused
// or hostile model does.
type Call struct {
	Tool      string
	Input     map[string]any
	Unoffered bool
}

// closing is what the model says when its script has ended.
const closing = "Done."

// Server is a model. URL is its base, without /v1.
type Server struct {
	URL string

	t      testing.TB
	script Script

	mu       sync.Mutex
	requests []Request
	strays   []string
	next     map[string]int
	calls    int
}

// New starts a model that plays a script, until the test ends.
func New(t testing.TB, script Script) *Server {
	t.Helper()
	s := &Server{t: t, script: script, next: map[string]int{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/messages", s.messages)
	mux.HandleFunc("POST /v1/messages/count_tokens", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, map[string]any{"input_tokens": 1000})
	})
	mux.HandleFunc("POST /v1/responses", s.responses)
	mux.HandleFunc("POST /v1beta/models/{call}", s.generate)
	mux.HandleFunc("/", s.rejectUnknown)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

// Requests returns the requests of a conversation so far, in order.
func (s *Server) Requests(conversation string) []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []Request
	for _, r := range s.requests {
		if r.Conversation == conversation {
			found = append(found, r)
		}
	}
	return found
}

// Strays returns the requests to other addresses, as METHOD PATH.
func (s *Server) Strays() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.strays)
}

// Results returns what came back of a conversation's tool calls, in the order of the calls.
func (s *Server) Results(conversation string) []Result {
	var results []Result
	for _, r := range s.Requests(conversation) {
		for _, result := range r.Results {
			if !slices.ContainsFunc(results, func(known Result) bool { return known.Call == result.Call }) {
				results = append(results, result)
			}
		}
	}
	return results
}

// answer records a request and returns the step that answers it, with identifiers for its calls.
func (s *Server) answer(r Request) (Step, []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.Conversation = s.conversation(r.User)
	s.requests = append(s.requests, r)
	step := Say(closing)
	if n, steps := s.next[r.Conversation], s.script[r.Conversation]; n < len(steps) {
		step = steps[n]
	}
	s.next[r.Conversation]++
	if step.Decide != nil {
		step = step.Decide(r)
	}
	ids := make([]string, len(step.Calls))
	for i, call := range step.Calls {
		if !call.Unoffered && !r.Offers(call.Tool) {
			s.t.Errorf("the script of [%s] calls %s, which is not offered: %s", r.Conversation, call.Tool,
				strings.Join(r.ToolNames(), " "))
		}
		s.calls++
		ids[i] = callID(s.calls)
	}
	return step, ids
}

// conversation finds which conversation is named first in the user's words: "" when none is.
func (s *Server) conversation(user []string) string {
	first, name := -1, ""
	words := strings.Join(user, "\n")
	for candidate := range s.script {
		if at := strings.Index(words, "["+candidate+"]"); at >= 0 && (first < 0 || at < first) {
			first, name = at, candidate
		}
	}
	return name
}

func (s *Server) rejectUnknown(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.strays = append(s.strays, r.Method+" "+r.URL.Path)
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusNotFound)
	_, _ = io.WriteString(w, `{"type":"error","error":{"type":"not_found_error","message":"not found"}}`)
}

func callID(n int) string { return fmt.Sprintf("toolu_%024d", n) }

func writeJSON(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(value) // the agent has gone away: its own test will tell
}

// encode writes JSON. A script's input that can't be written fails the test.
func (s *Server) encode(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		s.t.Errorf("the script: %v", err)
	}
	return string(data)
}

// stream writes server-sent events.
type stream struct {
	model *Server
	w     http.ResponseWriter
}

func (s *Server) startStream(w http.ResponseWriter) stream {
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	return stream{s, w}
}

// send writes one event, whose name is its type, too.
func (s stream) send(name string, fields map[string]any) {
	fields["type"] = name
	_, _ = io.WriteString(s.w, "event: "+name+"\ndata: "+s.model.encode(fields)+"\n\n")
	if f, ok := s.w.(http.Flusher); ok {
		f.Flush()
	}
}
