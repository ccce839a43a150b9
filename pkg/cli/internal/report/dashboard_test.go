package report_test

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/cli/internal/report"
	"github.com/skillpm/skillpm/pkg/policy/audit"
)

const (
	collectorFile = "../../../../docs/examples/otel-collector.yaml"
	dashboardFile = "../../../../docs/examples/grafana-dashboard.json"
)

// fleetRecords are records of several teams that have every field that the dashboard shows.
func fleetRecords(n int) []audit.Record {
	all := manyRecords(n, 0)
	for i := range all {
		all[i].Team, all[i].Host, all[i].Version = []string{"payments", "web"}[i%2], "claude-code", "1.2.0"
		all[i].Pack = "acme/" + all[i].Skill
		if all[i].Action == audit.Activate {
			all[i].Tokens = int64(100 + i)
		}
	}
	return all
}

// collectorMetrics returns the metrics of the collector's configuration, as Prometheus names them, with their labels.
func collectorMetrics(t *testing.T) map[string][]string {
	t.Helper()
	data, err := os.ReadFile(collectorFile)
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		Connectors struct {
			Signaltometrics struct {
				Spans []struct {
					Name, Unit string
					Attributes []struct{ Key string }
					Sum        *struct{ Value string }
				}
			}
		}
	}
	if err := yaml.Unmarshal(data, &config); err != nil {
		t.Fatal(err)
	}
	metrics := map[string][]string{}
	for _, m := range config.Connectors.Signaltometrics.Spans {
		name := strings.ReplaceAll(m.Name, ".", "_")
		var labels []string
		for _, a := range m.Attributes {
			labels = append(labels, a.Key)
		}
		if m.Sum != nil {
			metrics[name+"_total"] = labels
			continue
		}
		metrics[name+"_seconds_bucket"] = append(labels, "le")
	}
	return metrics
}

// queries returns the queries of the dashboard.
func queries(t *testing.T) (all []string) {
	t.Helper()
	data, err := os.ReadFile(dashboardFile)
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels     []struct{ Targets []struct{ Expr string } }
		Templating struct {
			List []struct{ Type, Query string }
		}
	}
	if err := json.Unmarshal(data, &dashboard); err != nil {
		t.Fatal(err)
	}
	for _, p := range dashboard.Panels {
		for _, target := range p.Targets {
			all = append(all, target.Expr)
		}
	}
	for _, v := range dashboard.Templating.List {
		if v.Type == "query" {
			all = append(all, v.Query)
		}
	}
	return all
}

// names returns the metrics of a query, and its labels: those it selects, those it groups by, and those of label_values.
func names(query string) (metrics, labels []string) {
	for _, m := range regexp.MustCompile(`\b(skillpm_\w+)\{|label_values\((\w+), (\w+)\)`).FindAllStringSubmatch(query, -1) {
		metrics = append(metrics, m[1]+m[2])
		if m[3] != "" {
			labels = append(labels, m[3])
		}
	}
	for _, m := range regexp.MustCompile(`(\w+)=~?"`).FindAllStringSubmatch(query, -1) {
		labels = append(labels, m[1])
	}
	for _, m := range regexp.MustCompile(`by \(([^)]*)\)`).FindAllStringSubmatch(query, -1) {
		labels = append(labels, strings.Split(m[1], ", ")...)
	}
	return metrics, labels
}

// TestDashboard checks that the collector of docs/examples reads only attributes that the export writes, and that the
// dashboard queries only the collector's metrics and labels.
func TestDashboard(t *testing.T) {
	var b bytes.Buffer
	export(t, report.NewExport("otlp", &b, ""), fleetRecords(10))
	written := map[string]bool{}
	for _, s := range spans(t, b.Bytes()) {
		for _, a := range s.Attributes {
			written[a.Key] = true
		}
	}
	data, err := os.ReadFile(collectorFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`attributes\["([^"]*)"\]`).FindAllSubmatch(data, -1) {
		if !written[string(m[1])] {
			t.Errorf("the collector reads %s, which the export does not write", m[1])
		}
	}
	metrics := collectorMetrics(t)
	for metric, labels := range metrics {
		for i, label := range labels {
			if label != "le" && !written[label] {
				t.Errorf("%s has the attribute %s, which the export does not write", metric, label)
			}
			labels[i] = strings.ReplaceAll(label, ".", "_")
		}
	}
	all := queries(t)
	if len(all) < 10 {
		t.Fatalf("%d queries", len(all))
	}
	for _, query := range all {
		used, labels := names(query)
		if len(used) == 0 {
			t.Errorf("no metric in %s", query)
		}
		for _, metric := range used {
			known, ok := metrics[metric]
			if !ok {
				t.Errorf("the collector does not write %s", metric)
			}
			for _, label := range labels {
				if ok && !slices.Contains(known, label) && label != "le" {
					t.Errorf("%s does not have the label %s", metric, label)
				}
			}
		}
	}
}
