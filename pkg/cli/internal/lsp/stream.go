package lsp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"go.lsp.dev/jsonrpc2"
)

// maxMessage is the size in bytes of the largest accepted message: documents of skills are far smaller.
const maxMessage = 64 << 20

// maxHeader bounds a line of a message's header.
const maxHeader = 4 << 10

// stream reads and writes messages with a header that has their length. Unlike the library's stream, which ends the
// connection at the first invalid message, it answers such a message with an error and continues.
//
// Written messages wait in a queue, so that a client that writes before it reads cannot cause a deadlock.
type stream struct {
	in       *bufio.Reader
	out      io.Writer
	mu       sync.Mutex // of what follows
	changed  sync.Cond  // signals a change of queue or finished
	queue    [][]byte
	finished bool
}

func newStream(r io.Reader, w io.Writer) *stream {
	s := &stream{in: bufio.NewReaderSize(r, maxHeader), out: w}
	s.changed.L = &s.mu
	return s
}

// Read returns the next valid message.
func (s *stream) Read(ctx context.Context) (jsonrpc2.Message, int64, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		length, err := s.header()
		if err != nil {
			return nil, 0, err
		}
		if length > maxMessage {
			if _, err := io.CopyN(io.Discard, s.in, int64(length)); err != nil {
				return nil, 0, err
			}
			if err := s.refuse(nil, fmt.Errorf("the message has %d bytes; the limit is %d", length,
				maxMessage)); err != nil {
				return nil, 0, err
			}
			continue
		}
		body := make([]byte, length)
		if _, err := io.ReadFull(s.in, body); err != nil {
			return nil, 0, err
		}
		msg, err := decode(body)
		if err == nil {
			return msg, int64(length), nil
		}
		if err := s.refuse(body, err); err != nil {
			return nil, 0, err
		}
	}
}

// header reads a header and the empty line after it, and skips other lines.
func (s *stream) header() (length int, err error) {
	length = -1
	for {
		line, err := s.in.ReadSlice('\n')
		for errors.Is(err, bufio.ErrBufferFull) {
			line = nil
			_, err = s.in.ReadSlice('\n')
		}
		if err != nil {
			return 0, err
		}
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			if length >= 0 {
				return length, nil
			}
			continue
		}
		name, value, _ := strings.Cut(string(line), ":")
		if strings.EqualFold(strings.TrimSpace(name), jsonrpc2.HdrContentLength) {
			if n, err := strconv.Atoi(strings.TrimSpace(value)); err == nil && n >= 0 {
				length = n
			}
		}
	}
}

var errNotJSON = errors.New("the message is not valid JSON")

func decode(body []byte) (jsonrpc2.Message, error) {
	if !json.Valid(body) { // the library's reader is not strict
		return nil, errNotJSON
	}
	return jsonrpc2.DecodeMessage(body)
}

// refuse answers an invalid message.
func (s *stream) refuse(body []byte, cause error) error {
	code := jsonrpc2.InvalidRequest
	if errors.Is(cause, errNotJSON) {
		code = jsonrpc2.ParseError
	}
	answer, err := json.Marshal(map[string]any{
		"jsonrpc": jsonrpc2.Version, "id": idOf(body), "error": map[string]any{"code": code, "message": cause.Error()},
	})
	if err == nil {
		s.enqueue(answer)
	}
	return err
}

// idOf returns the id of a message in its JSON form, or nil.
func idOf(body []byte) json.RawMessage {
	var m struct {
		ID json.RawMessage `json:"id"`
	}
	if json.Unmarshal(body, &m) != nil {
		return nil
	}
	return m.ID
}

// Write queues a message.
func (s *stream) Write(_ context.Context, msg jsonrpc2.Message) (int64, error) {
	data, err := json.Marshal(msg)
	if err != nil {
		return 0, err
	}
	s.enqueue(data)
	return int64(len(data)), nil
}

func (s *stream) enqueue(data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.finished {
		s.queue = append(s.queue, data)
		s.changed.Signal()
	}
}

// send writes the queue, until finish was called and the queue is empty, or the client is gone.
func (s *stream) send() {
	for {
		s.mu.Lock()
		for len(s.queue) == 0 && !s.finished {
			s.changed.Wait()
		}
		queue := s.queue
		s.queue = nil
		s.mu.Unlock()
		if len(queue) == 0 {
			return
		}
		for _, data := range queue {
			head := jsonrpc2.HdrContentLength + ": " + strconv.Itoa(len(data)) + jsonrpc2.HdrContentSeparator
			if _, err := s.out.Write(append([]byte(head), data...)); err != nil {
				s.finish()
				return
			}
		}
	}
}

// finish makes send return.
func (s *stream) finish() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.finished = true
	s.changed.Signal()
}

// Close does nothing: the caller of [Serve] closes the streams.
func (s *stream) Close() error { return nil }
