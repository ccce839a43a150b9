package dispatch

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/jsonx"
)

// State is the result of a dispatch.
type State string

// States of the protocol.
const (
	Success State = "success"
	Pending State = "pending"
	Failed  State = "error"
	Timeout State = "timeout"
)

// Icon returns the symbol at the start of a reply.
func (s State) Icon() string {
	switch s {
	case Success:
		return "✅"
	case Pending:
		return "⏸️"
	case Timeout:
		return "⏱️"
	default:
		return "❌"
	}
}

// errorType is the protocol's type of an error.
type errorType string

// Error types of the protocol. TimedOut belongs to the state Timeout.
const (
	skillNotFound   errorType = "SkillNotFound"
	metadataMissing errorType = "MetadataMissing"
	paramMissing    errorType = "ParamMissing"
	runtimeFailed   errorType = "RuntimeFailed"
	timedOut        errorType = "Timeout"
)

// Recoverable reports whether the caller can fix an error: true, false, or nil if that depends on the error.
func (t errorType) Recoverable() *bool {
	switch t {
	case skillNotFound, paramMissing, timedOut:
		return new(true)
	case metadataMissing:
		return new(false)
	default:
		return nil
	}
}

// Reply is the reply to a dispatch.
type Reply struct {
	State   State
	Summary string
	Data    Data
	Meta    Meta
	Advice  string // what the caller should do, or ""; a separate last line
	Code    diag.Code
}

// Data is the data of a reply, in order.
type Data []Field

// Field is one entry of [Data].
type Field struct {
	Key   string
	Value any
}

// MarshalJSON writes an object with the keys in order.
func (d Data) MarshalJSON() ([]byte, error) {
	return jsonx.MarshalObject(func(yield func(string, any) bool) {
		for _, f := range d {
			if !yield(f.Key, f.Value) {
				return
			}
		}
	})
}

// Meta describes who replied, and when.
type Meta struct {
	Agent string        // always "skills"
	Time  time.Duration // duration of the dispatch
	TS    time.Time     // time of the reply
	Model string        // requested by the caller, or else by the skill; "" if none
}

// MarshalJSON writes the duration in seconds and the time as RFC 3339.
func (m Meta) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Agent string      `json:"agent"`
		Time  json.Number `json:"time"`
		TS    string      `json:"ts"`
		Model string      `json:"model,omitempty"`
	}{m.Agent, json.Number(seconds(m.Time)), m.stamp(), m.Model})
}

func (m Meta) stamp() string { return m.TS.UTC().Format(time.RFC3339) }

// seconds formats a duration in seconds, with one decimal.
func seconds(d time.Duration) string {
	return strconv.FormatFloat(math.Round(d.Seconds()*10)/10, 'f', -1, 64)
}

// MarshalJSON writes a reply as one object.
func (r *Reply) MarshalJSON() ([]byte, error) {
	return jsonx.Marshal(struct {
		Icon    string `json:"icon"`
		Agent   string `json:"agent"`
		Summary string `json:"summary"`
		State   State  `json:"state"`
		Data    Data   `json:"data"`
		Meta    Meta   `json:"meta"`
		Advice  string `json:"advice,omitempty"`
	}{r.State.Icon(), Agent, r.Summary, r.State, r.Data, r.Meta, r.Advice})
}

// Text returns a reply in the protocol's text format: a line with icon and summary, and one line each for state, data,
// and meta. Values are JSON; keys are not quoted.
func (r *Reply) Text() string {
	var b strings.Builder
	b.WriteString(r.State.Icon() + " " + Agent + " " + flat(r.Summary) + "\n")
	b.WriteString("  state: " + string(r.State) + "\n  data: {")
	for i, f := range r.Data {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(key(f.Key) + ": " + inline(f.Value))
	}
	b.WriteString("}\n" +
		"  meta: {agent: " + r.Meta.Agent + ", time: " + seconds(r.Meta.Time) + ", ts: " + inline(r.Meta.stamp()))
	if r.Meta.Model != "" {
		b.WriteString(", model: " + inline(r.Meta.Model))
	}
	b.WriteString("}\n")
	if r.Advice != "" {
		b.WriteString("  advice: " + flat(r.Advice) + "\n")
	}
	return b.String()
}

// flat returns a text on one line, without invisible characters.
func flat(text string) string {
	text = strings.Map(func(r rune) rune {
		if !unicode.IsSpace(r) && !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, text)
	return strings.Join(strings.Fields(text), " ")
}

// inline formats a value as JSON on one line, with a space after each comma in a list.
func inline(v any) string {
	list, ok := v.([]string)
	if !ok {
		return value(v)
	}
	items := make([]string, len(list))
	for i, item := range list {
		items[i] = value(item)
	}
	return "[" + strings.Join(items, ", ") + "]"
}

// value formats JSON without escaping <, >, and &.
func value(v any) string {
	b, err := jsonx.Marshal(v)
	if err != nil {
		return "null"
	}
	return string(b)
}

// key formats a name, in quotes unless it is a single word.
func key(name string) string {
	printable := name != "" && len(name) <= 64 && !strings.ContainsFunc(name, func(r rune) bool {
		return r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
	if printable {
		return name
	}
	return value(name)
}
