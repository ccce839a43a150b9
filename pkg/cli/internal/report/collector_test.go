//go:build slow

package report_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/skillpm/skillpm/pkg/cli/internal/report"
	"github.com/skillpm/skillpm/pkg/policy/audit"
)

// collector is a running OpenTelemetry Collector with the configuration of docs/examples.
type collector struct {
	traces, metrics string // URLs
	received        string // file with the spans that it received
	stop            func()
}

// startCollector starts the collector, which also writes the spans that it receives to a file.
func startCollector(t *testing.T) *collector {
	t.Helper()
	program, err := exec.LookPath("otelcol")
	if err != nil {
		if os.Getenv("SKILLPM_REQUIRE_OTELCOL") == "1" {
			t.Fatal(err)
		}
		t.Skip("otelcol is not installed; .ci/run tools installs it, and SKILLPM_REQUIRE_OTELCOL=1 makes this an error")
	}
	c := &collector{received: filepath.Join(t.TempDir(), "spans.jsonl")}
	override := filepath.Join(t.TempDir(), "override.yaml")
	config := fmt.Sprintf("exporters: {file: {path: %q}}\n"+
		"service: {pipelines: {traces: {exporters: [signaltometrics, file]}}}\n", c.received)
	if err := os.WriteFile(override, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	ports := freePorts(t, 2)
	cmd := exec.CommandContext(t.Context(), program, "--config", "file:"+collectorFile, "--config", "file:"+override)
	cmd.Env = append(os.Environ(), "OTLP_ENDPOINT="+ports[0], "PROMETHEUS_ENDPOINT="+ports[1])
	var log bytes.Buffer
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	c.traces, c.metrics = "http://"+ports[0]+"/v1/traces", "http://"+ports[1]+"/metrics"
	c.stop = func() {
		_ = cmd.Process.Signal(os.Interrupt) // the collector writes what it has, and ends
		<-ended
	}
	t.Cleanup(func() {
		c.stop()
		if t.Failed() {
			t.Log(log.String())
		}
	})
	for {
		if connection, err := net.Dial("tcp", ports[0]); err == nil {
			_ = connection.Close()
			return c
		}
		select {
		case <-ended:
			t.Fatal("the collector ended: ", log.String())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// freePorts returns addresses on this machine on which nothing listens.
func freePorts(t *testing.T, n int) (addresses []string) {
	t.Helper()
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = l.Close() }()
		addresses = append(addresses, l.Addr().String())
	}
	return addresses
}

// send sends each line of an export as a request. The collector must accept all of it.
func (c *collector) send(t *testing.T, lines []byte) (requests int) {
	t.Helper()
	for line := range bytes.Lines(lines) {
		r, err := http.Post(c.traces, "application/json", bytes.NewReader(line))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r.Body)
		_ = r.Body.Close()
		var answer struct {
			PartialSuccess struct {
				RejectedSpans any
				ErrorMessage  string
			}
		}
		if err != nil || r.StatusCode != http.StatusOK || json.Unmarshal(body, &answer) != nil ||
			answer.PartialSuccess.RejectedSpans != nil || answer.PartialSuccess.ErrorMessage != "" {
			t.Fatalf("%d %s, %v", r.StatusCode, body, err)
		}
		requests++
	}
	return requests
}

// sample is a value that Prometheus reads.
type sample struct {
	metric string
	labels map[string]string
	value  float64
}

// scrape reads the metrics as Prometheus does.
func (c *collector) scrape(t *testing.T) (all []sample) {
	t.Helper()
	r, err := http.Get(c.metrics)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Body.Close() }()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	pair := regexp.MustCompile(`(\w+)="((?:[^"\\]|\\.)*)"`)
	for _, m := range regexp.MustCompile(`(?m)^(\w+)\{(.*)\} (\S+)$`).FindAllStringSubmatch(string(text), -1) {
		s := sample{metric: m[1], labels: map[string]string{}}
		for _, p := range pair.FindAllStringSubmatch(m[2], -1) {
			s.labels[p[1]] = p[2]
		}
		if s.value, err = strconv.ParseFloat(m[3], 64); err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}

// sumBy adds the values of a metric by one label, with the given other labels.
func sumBy(all []sample, metric, label string, where map[string]string) map[string]float64 {
	sums := map[string]float64{}
	for _, s := range all {
		matches := s.metric == metric
		for name, value := range where {
			matches = matches && s.labels[name] == value
		}
		if matches {
			sums[s.labels[label]] += s.value
		}
	}
	return sums
}

// TestCollector sends an export to a real OpenTelemetry Collector with the configuration of docs/examples. It checks that
// every span arrives unchanged, that the metrics have the numbers of "log stats", and that each query of the dashboard
// finds its metrics and labels.
func TestCollector(t *testing.T) {
	c := startCollector(t)
	records := fleetRecords(1300)
	var lines bytes.Buffer
	export(t, report.NewExport("otlp", &lines, "1.2.3"), records)
	if n := c.send(t, lines.Bytes()); n != 3 {
		t.Errorf("%d requests", n)
	}
	stats := audit.Stats{By: []string{audit.ByTeam}}
	for _, r := range records {
		stats.Add(r)
	}
	samples := c.scrape(t)
	operations, team := "skillpm_operations_total", "skillpm_team"
	activations := sumBy(samples, operations, team, map[string]string{"skillpm_action": "activate", "skillpm_result": "ok"})
	denials := sumBy(samples, operations, team, map[string]string{"skillpm_result": "denied"})
	failures := sumBy(samples, operations, team, map[string]string{"skillpm_result": "failed"})
	tokens := sumBy(samples, "skillpm_tokens_total", team, nil)
	durations := sumBy(samples, "skillpm_duration_seconds_sum", team, map[string]string{"skillpm_action": "run"})
	usages := stats.Usages()
	if len(usages) != 2 || len(activations) != 2 {
		t.Fatalf("teams %v and %v", usages, activations)
	}
	for _, u := range usages {
		got := []int64{
			int64(activations[u.Team]), int64(denials[u.Team]), int64(failures[u.Team]), int64(tokens[u.Team]),
			int64(durations[u.Team]*1000 + 0.5),
		}
		if want := []int64{u.Activations, u.Refusals, u.Failures, u.Tokens, u.TotalMS}; !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", u.Team, got, want)
		}
	}
	checkQueries(t, samples)

	c.stop()
	received, err := os.ReadFile(c.received)
	if err != nil {
		t.Fatal(err)
	}
	if sent, got := bySpan(t, lines.Bytes()), bySpan(t, received); len(sent) != len(records) || !reflect.DeepEqual(got, sent) {
		t.Errorf("the collector received %d of %d spans, or changed them", len(got), len(sent))
	}
}

// checkQueries checks that a query's metrics and labels are those that the collector writes.
func checkQueries(t *testing.T, samples []sample) {
	t.Helper()
	for _, query := range queries(t) {
		metrics, labels := names(query)
		for _, metric := range metrics {
			i := slices.IndexFunc(samples, func(s sample) bool { return s.metric == metric })
			if i < 0 {
				t.Errorf("the collector has no metric %s for %s", metric, query)
				continue
			}
			for _, label := range labels {
				if _, ok := samples[i].labels[label]; !ok && !(label == "le" && !strings.HasSuffix(metric, "_bucket")) {
					t.Errorf("%s does not have the label %s of %s", metric, label, query)
				}
			}
		}
	}
}

// bySpan returns the spans of OTLP documents by their ids. The attributes are a set.
func bySpan(t *testing.T, data []byte) map[string]span {
	t.Helper()
	all := map[string]span{}
	for _, s := range spans(t, data) {
		slices.SortFunc(s.Attributes, func(a, b attribute) int { return strings.Compare(a.Key, b.Key) })
		all[s.SpanID] = s
	}
	return all
}
