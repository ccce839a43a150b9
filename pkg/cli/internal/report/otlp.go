package report

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/policy/audit"
)

// otlpExport writes records as spans in OpenTelemetry's JSON format (OTLP 1.x, TracesData): one document per line, as
// OpenTelemetry's file exporter writes them. Each span is an operation on a skill, which its attribute skill_name
// names. A span of a session without a trace belongs to a trace that is derived from the session's name.
//
// It skips records without a skill, and those of intents.
type otlpExport struct {
	w       io.Writer
	version string
	batch   map[string][]span    // by machine
	order   []string             // machines in order of appearance
	n       int                  // number of spans in the batch
	active  map[[3]string]string // the activation span of a skill, by session and machine
	started bool
}

const (
	mostSpans  = 500    // spans in one line
	mostActive = 10_000 // activations to remember
)

// The JSON types of https://github.com/open-telemetry/opentelemetry-proto: names in lowerCamelCase, ids as hexadecimal
// digits, 64-bit integers as strings, enumerations as numbers.
type (
	tracesData struct {
		ResourceSpans []resourceSpans `json:"resourceSpans"`
	}
	resourceSpans struct {
		Resource   resource     `json:"resource"`
		ScopeSpans []scopeSpans `json:"scopeSpans"`
	}
	resource struct {
		Attributes []attribute `json:"attributes"`
	}
	scopeSpans struct {
		Scope scope  `json:"scope"`
		Spans []span `json:"spans"`
	}
	scope struct {
		Name    string `json:"name"`
		Version string `json:"version,omitempty"`
	}
	span struct {
		TraceID      string      `json:"traceId"`
		SpanID       string      `json:"spanId"`
		ParentSpanID string      `json:"parentSpanId,omitempty"`
		Name         string      `json:"name"`
		Kind         int         `json:"kind"`
		Start        string      `json:"startTimeUnixNano"`
		End          string      `json:"endTimeUnixNano"`
		Attributes   []attribute `json:"attributes"`
		Status       status      `json:"status"`
	}
	status struct {
		Message string `json:"message,omitempty"`
		Code    int    `json:"code,omitempty"`
	}
	attribute struct {
		Key   string `json:"key"`
		Value value  `json:"value"`
	}
	value struct {
		String *string `json:"stringValue,omitempty"`
		Int    *string `json:"intValue,omitempty"`
		Array  *array  `json:"arrayValue,omitempty"`
	}
	array struct {
		Values []value `json:"values"`
	}
)

const (
	kindInternal = 1 // SPAN_KIND_INTERNAL
	statusError  = 2 // STATUS_CODE_ERROR
)

// Add adds a record, and writes a line when the batch is full.
func (o *otlpExport) Add(r audit.Record) error {
	end, err := time.Parse(time.RFC3339Nano, r.Time)
	if err != nil || r.Skill == "" || r.Phase == audit.Intent || end.Unix() < 0 || end.Year() > 2200 {
		return nil
	}
	s := span{
		TraceID: r.Trace, SpanID: id(8, "span", r.Machine, r.User, strconv.FormatInt(r.Seq, 10), r.Time, r.Prev),
		Name: r.Action + " " + r.Skill, Kind: kindInternal,
		Start: nano(end.Add(-spanDuration(r))), End: nano(end), Attributes: attributes(r), ParentSpanID: r.Span,
	}
	if len(s.TraceID) != 32 {
		s.TraceID, s.ParentSpanID = id(16, "trace", r.Machine, r.Session), ""
		if r.Session == "" {
			s.TraceID = id(16, "trace", s.SpanID, r.Prev)
		}
	}
	o.parent(&s, r)
	if r.Result != audit.OK {
		s.Status = status{Message: r.Reason, Code: statusError}
	}
	if len(o.batch[r.Machine]) == 0 {
		o.order = append(o.order, r.Machine)
	}
	o.batch[r.Machine] = append(o.batch[r.Machine], s)
	if o.n++; o.n < mostSpans {
		return nil
	}
	return o.flush()
}

// parent makes a span the child of its skill's activation, if they have the same trace.
func (o *otlpExport) parent(s *span, r audit.Record) {
	if r.Session == "" {
		return
	}
	key := [3]string{r.Machine, r.Session, r.Skill}
	switch {
	case r.Action == audit.Activate && r.Result == audit.OK:
		if len(o.active) >= mostActive {
			clear(o.active)
		}
		o.active[key] = s.TraceID + s.SpanID
	case s.ParentSpanID == "":
		if id, ok := strings.CutPrefix(o.active[key], s.TraceID); ok {
			s.ParentSpanID = id
		}
	}
	if r.Action == audit.Deactivate {
		delete(o.active, key)
	}
}

// spanDuration returns the duration of an operation. The log may contain any value.
func spanDuration(r audit.Record) time.Duration {
	const most = 366 * 24 * time.Hour
	return time.Duration(min(max(0, r.DurationMS), most.Milliseconds())) * time.Millisecond
}

func nano(t time.Time) string { return strconv.FormatInt(max(0, t.UnixNano()), 10) }

// id derives an id of n bytes from texts, in hexadecimal digits.
func id(n int, texts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(texts, "\x00")))
	return hex.EncodeToString(sum[:n])
}

// attributes returns the attributes of a record. Names follow OpenTelemetry's conventions if they exist.
func attributes(r audit.Record) []attribute {
	all := []attribute{text("skill_name", r.Skill)}
	for _, a := range [][2]string{
		{"skillpm.action", "action"},
		{"skillpm.result", "result"},
		{"skillpm.pack", "pack"},
		{"skillpm.version", "version"},
		{"skillpm.layer", "layer"},
		{"skillpm.digest", "digest"},
		{"session.id", "session"},
		{"user.name", "user"},
		{"skillpm.team", "team"},
		{"skillpm.project", "project"},
		{"skillpm.profile", "profile"},
		{"skillpm.host", "host"},
		{"skillpm.trigger", "trigger"},
		{"skillpm.hook", "hook"},
		{"skillpm.script", "script"},
		{"skillpm.file", "file"},
		{"skillpm.tool", "tool"},
		{"skillpm.agent", "agent"},
		{"skillpm.task", "task"},
		{"skillpm.output.digest", "output"},
		{"skillpm.sandbox", "sandbox"},
		{"skillpm.verdict", "verdict"},
		{"skillpm.policy", "policy"},
	} {
		if s := field(&r, a[1]).String(); s != "" {
			all = append(all, text(a[0], s))
		}
	}
	all = append(all, number64("skillpm.seq", r.Seq))
	if r.Tokens != 0 {
		all = append(all, number64("skillpm.tokens", r.Tokens))
	}
	if r.ExitCode != nil {
		all = append(all, number64("process.exit.code", int64(*r.ExitCode)))
	}
	if r.OutputBytes != 0 {
		all = append(all, number64("skillpm.output.bytes", r.OutputBytes))
	}
	if len(r.Command) > 0 {
		words := make([]value, len(r.Command))
		for i := range r.Command {
			words[i].String = &r.Command[i]
		}
		all = append(all, attribute{Key: "process.command_args", Value: value{Array: &array{Values: words}}})
	}
	return all
}

func text(key, s string) attribute { return attribute{Key: key, Value: value{String: &s}} }

func number64(key string, n int64) attribute {
	s := strconv.FormatInt(n, 10)
	return attribute{Key: key, Value: value{Int: &s}}
}

// flush writes the batch as a line.
func (o *otlpExport) flush() error {
	data := tracesData{ResourceSpans: []resourceSpans{}}
	for _, machine := range o.order {
		spans := resourceSpans{
			Resource: resource{Attributes: []attribute{text("service.name", "skillpm")}},
			ScopeSpans: []scopeSpans{{Scope: scope{
				Name:    "github.com/skillpm/skillpm/pkg/policy/audit",
				Version: o.version,
			}, Spans: o.batch[machine]}},
		}
		if machine != "" {
			spans.Resource.Attributes = append(spans.Resource.Attributes, text("host.name", machine))
		}
		data.ResourceSpans = append(data.ResourceSpans, spans)
	}
	clear(o.batch)
	o.order, o.n, o.started = o.order[:0], 0, true
	return console.WriteLine(o.w, data)
}

// Close writes the rest, or an empty document if there were no records.
func (o *otlpExport) Close() error {
	if o.n == 0 && o.started {
		return nil
	}
	return o.flush()
}
