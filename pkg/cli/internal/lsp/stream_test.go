package lsp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"go.lsp.dev/jsonrpc2"
)

// message returns a message in its wire format.
func message(body string) string {
	return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body)
}

// read reads every message that a stream understands, one a line, and returns the answers that it sent.
func read(t *testing.T, input string) (got []string, answered string) {
	t.Helper()
	var out bytes.Buffer
	s := newStream(strings.NewReader(input), &out)
	for {
		msg, _, err := s.Read(context.Background())
		if err != nil {
			if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("got %v", err)
			}
			break
		}
		switch m := msg.(type) {
		case *jsonrpc2.Call:
			got = append(got, fmt.Sprintf("%s %v %s", m.Method(), m.ID(), m.Params()))
		case *jsonrpc2.Notification:
			got = append(got, fmt.Sprintf("%s %s", m.Method(), m.Params()))
		default:
			got = append(got, fmt.Sprintf("%T", m))
		}
	}
	s.finish()
	s.send()
	return got, out.String()
}

func TestStream(t *testing.T) {
	const call = `{"jsonrpc":"2.0","id":7,"method":"m","params":{"a":"é😀"}}`
	const read1 = `m 7 {"a":"é😀"}`
	for _, tt := range []struct {
		name, in string
		want     string // what is understood, separated by |
		answered string // what the answers hold, separated by |
	}{
		{"a call", message(call), read1, ""},
		{"two", message(call) + message(`{"jsonrpc":"2.0","method":"n"}`), read1 + "|n ", ""},
		{"a name for an id", message(`{"jsonrpc":"2.0","id":"x","method":"m"}`), "m x ", ""},
		{"a response", message(`{"jsonrpc":"2.0","id":1,"result":null}`), "*jsonrpc2.Response", ""},
		{"other headers", "content-type: x\r\nCONTENT-LENGTH:" + fmt.Sprint(len(call)) + "\r\nX: y\r\n\r\n" + call, read1, ""},
		{"line feeds alone", fmt.Sprintf("Content-Length: %d\n\n", len(call)) + call, read1, ""},
		{"garbage before", "hello\r\n\r\n\x00\xff\n" + strings.Repeat("x", 3*maxHeader) + "\r\n" + message(call), read1, ""},
		{"not JSON", message(`{"jsonrpc":"2.0",,}`) + message(call), read1, "-32700"},
		{"not UTF-8", message("\xff\xfe") + message(call), read1, "-32700"},
		{"no message", message(`[1]`) + message(`{}`) + message(`null`) + message(call), read1, "-32600|-32600|-32600"},
		{"another version", message(`{"jsonrpc":"1.0","id":3,"method":"m"}`) + message(call), read1, `"id":3`},
		{"an id that is none", message(`{"jsonrpc":"2.0","id":{"a":1},"method":"m"}`) + message(call), read1, `"id":{"a":1}`},
		{"an empty message", message("") + message(call), read1, "-32700"},
		{"a length that is none", "Content-Length: -3\r\n\r\nContent-Length: x\r\n\r\n" + message(call), read1, ""},
		{"cut off", "Content-Length: 100\r\n\r\n{", "", ""},
		{"nothing", "", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, answered := read(t, tt.in)
			if strings.Join(got, "|") != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if n := strings.Count(answered, "Content-Length"); tt.answered == "" && n > 0 || tt.answered != "" && n != len(strings.Split(tt.answered, "|")) {
				t.Errorf("answered %q", answered)
			}
			for part := range strings.SplitSeq(tt.answered, "|") {
				if !strings.Contains(answered, part) {
					t.Errorf("answered %q, which has no %q", answered, part)
				}
			}
		})
	}
}

// TestStreamLong checks that a message that is too long is skipped.
func TestStreamLong(t *testing.T) {
	long := fmt.Sprintf("Content-Length: %d\r\n\r\n", maxMessage+1)
	in := io.MultiReader(strings.NewReader(long), io.LimitReader(zeros{}, maxMessage+1), strings.NewReader(message(`{"jsonrpc":"2.0","method":"n"}`)))
	s := newStream(in, io.Discard)
	msg, _, err := s.Read(context.Background())
	if n, ok := msg.(*jsonrpc2.Notification); err != nil || !ok || n.Method() != "n" {
		t.Errorf("got %v, %v", msg, err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func FuzzStream(f *testing.F) {
	f.Add([]byte(message(`{"jsonrpc":"2.0","id":7,"method":"m","params":{"a":1}}`)))
	f.Add([]byte("Content-Length: 3\n\n{}\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		if bytes.Count(in, []byte("0")) > 5 {
			t.Skip("lengths without end")
		}
		_, answered := read(t, string(in))
		read(t, answered)
	})
}

// FuzzDecode gives the library's reader any JSON.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":7,"method":"m","params":{"a":[1,"x",null]},"error":{"code":1,"message":"m"}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":"7","result":{}}`))
	f.Fuzz(func(_ *testing.T, body []byte) {
		if msg, err := decode(body); err == nil {
			s := newStream(nil, io.Discard)
			_, _ = s.Write(context.Background(), msg)
		}
	})
}
