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

// State is how a dispatch went.
type State string

// The states of the protocol.
const (
	Success State = "success"
	Pending State = "pending"
	Failed  State = "error"
	Timeout State = "timeout"
)

// Icon returns the sign that a reply of a state begins with.
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

// errorType is what kind of error a reply tells of.
type errorType string

// The types of errors of the protocol. TimedOut is that of a reply whose state is Timeout.
const (
	skillNotFound   errorType = "SkillNotFound"
	metadataMissing errorType = "MetadataMissing"
	paramMissing    errorType = "ParamMissing"
	runtimeFailed   errorType = "RuntimeFailed"
	timedOut        errorType = "Timeout"
)

// Recoverable says whether the caller can do something about an error: true, false, or nil where only the error itself
// tells.
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

// Reply is the answer to a dispatch.
type Reply struct {
	State   State
	Summary string
	Data    Data
	Meta    Meta
	Advice  string // what the caller should do, "" for nothing; a line of its own after the others
	Code    diag.Code
}

// Data is what a reply holds, in the order in which it is written.
type Data []Field

// Field is one entry of [Data].
type Field struct {
	Key   string
	Value any
}

// MarshalJSON writes an object whose keys are in order.
func (d Data) MarshalJSON() ([]byte, error) {
	return jsonx.MarshalObject(func(yield func(string, any) bool) {
		for _, f := range d {
			if !yield(f.Key, f.Value) {
				return
			}
		}
	})
}

// Meta says who answered, and when.
type Meta struct {
	Agent string        // always "skills"
	Time  time.Duration // that the dispatch took
	TS    time.Time     // when it was answered
	Model string        // that the caller asked for, or the skill does; "" for none
}

// MarshalJSON writes the time in seconds and the moment as RFC 3339 does.
func (m Meta) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Agent string      `json:"agent"`
		Time  json.Number `json:"time"`
		TS    string      `json:"ts"`
		Model string      `json:"model,omitempty"`
	}{m.Agent, json.Number(seconds(m.Time)), m.stamp(), m.Model})
}

func (m Meta) stamp() string { return m.TS.UTC().Format(time.RFC3339) }

// seconds writes a duration in seconds, to a tenth.
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

// Text returns a reply as the protocol writes it: a line with icon and summary, and one for each of state, data and
// meta. Values are JSON, keys are not in quotes.
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
	b.WriteString("}\n  meta: {agent: " + r.Meta.Agent + ", time: " + seconds(r.Meta.Time) + ", ts: " +
		inline(r.Meta.stamp()))
	if r.Meta.Model != "" {
		b.WriteString(", model: " + inline(r.Meta.Model))
	}
	b.WriteString("}\n")
	if r.Advice != "" {
		b.WriteString("  advice: " + flat(r.Advice) + "\n")
	}
	return b.String()
}

// flat returns a text on one line, without characters that can't be seen.
func flat(text string) string {
	text = strings.Map(func(r rune) rune {
		if !unicode.IsSpace(r) && !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, text)
	return strings.Join(strings.Fields(text), " ")
}

// inline writes a value as JSON on one line, lists with a space after each comma.
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

// value writes JSON and leaves <, > and & as they are.
func value(v any) string {
	b, err := jsonx.Marshal(v)
	if err != nil {
		return "null"
	}
	return string(b)
}

// key writes a name, in quotes where it is more than a word.
func key(name string) string {
	printable := name != "" && len(name) <= 64 && !strings.ContainsFunc(name, func(r rune) bool {
		return r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
	if printable {
		return name
	}
	return value(name)
}
