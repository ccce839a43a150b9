package mcpserver

import (
	"encoding/json"
	"net/http"
	"sync"
)

// httpCalls are the requests of sessions over HTTP that are not answered yet. A cancelled one gets no answer; the SDK
// would write one.
type httpCalls struct {
	mu   sync.Mutex
	open map[callKey]*silencer
}

// callKey identifies a request.
type callKey struct {
	session string
	id      string // as JSON
}

// httpMessage is the part of a message that identifies a request, or the one that it cancels.
type httpMessage struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		RequestID json.RawMessage `json:"requestId"`
	} `json:"params"`
}

// begin records a request, and returns the writer for its answer and a function that ends the record. If the message
// cancels another request, begin silences that one.
func (c *httpCalls) begin(w http.ResponseWriter, session string, data []byte) (writer http.ResponseWriter, end func()) {
	var m httpMessage
	if session == "" || json.Unmarshal(data, &m) != nil { // the SDK reports invalid messages
		return w, func() {}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if m.ID == nil {
		if other := c.open[callKey{session, string(m.Params.RequestID)}]; other != nil && m.Method == cancelled {
			other.silence()
		}
		return w, func() {}
	}
	s := &silencer{ResponseWriter: w}
	key := callKey{session, string(m.ID)}
	c.open[key] = s
	return s, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.open[key] == s {
			delete(c.open, key)
		}
	}
}

// silencer is a writer that writes nothing once it is silenced.
type silencer struct {
	http.ResponseWriter
	mu     sync.Mutex
	silent bool
}

func (s *silencer) silence() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.silent = true
}

// Write implements [http.ResponseWriter].
func (s *silencer) Write(data []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.silent {
		return len(data), nil
	}
	return s.ResponseWriter.Write(data)
}

// Flush implements [http.Flusher].
func (s *silencer) Flush() { _ = http.NewResponseController(s.ResponseWriter).Flush() }

// Unwrap returns the writer for [http.ResponseController].
func (s *silencer) Unwrap() http.ResponseWriter { return s.ResponseWriter }
