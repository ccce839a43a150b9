package packsearch

import (
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"strings"
	"testing"
)

// generated yields that many packs, the same ones every time: owners with a few packs each, names of two or three
// vocabulary words, and descriptions whose rare words are as rare as in prose.
func generated(n int) iter.Seq2[Pack, error] {
	return func(yield func(Pack, error) bool) {
		r := rand.New(rand.NewPCG(1, 2))
		rare := make([]string, 20_000)
		for i := range rare {
			b := make([]byte, 5+r.IntN(6))
			for j := range b {
				b[j] = 'a' + byte(r.IntN(26))
			}
			rare[i] = string(b)
		}
		topics, tasks, filler := strings.Fields(benchTopics), strings.Fields(benchTasks), strings.Fields(benchFiller)
		pick := func(list []string) string { return list[r.IntN(len(list))] }
		text := func(words int) string {
			var b strings.Builder
			for range words {
				switch r.IntN(6) {
				case 0:
					b.WriteString(pick(topics))
				case 1:
					b.WriteString(pick(tasks))
				case 2:
					b.WriteString(rare[int(r.ExpFloat64()*2000)%len(rare)])
				default:
					b.WriteString(pick(filler))
				}
				b.WriteByte(' ')
			}
			return strings.TrimSpace(b.String())
		}
		for i := range n {
			topic, task := pick(topics), pick(tasks)
			d := Pack{
				Name: fmt.Sprintf("owner-%07d/p%d-%s-%s", i/8, i%8, topic, task), Version: "1.0.0", License: "Apache-2.0",
				Description: text(18), Tags: []string{topic, pick(topics)},
			}
			for range 1 + r.IntN(3) {
				d.Skills = append(d.Skills, Skill{pick(tasks) + "-" + pick(topics), text(25)})
			}
			if !yield(d, nil) {
				return
			}
		}
	}
}

const (
	benchTopics = "kubernetes terraform postgres release changelog incident invoice spreadsheet pdf slides translation accessibility react django rust golang security audit kafka redis docker helm grafana metrics logging tracing testing fuzzing review refactor migration billing payroll contract legal recipe travel music video image podcast newsletter seo analytics dashboard forecast genome protein chemistry astronomy"
	benchTasks  = "deploy build review write convert extract summarize plan monitor debug migrate generate validate optimize clean import export schedule compare explain"
	benchFiller = "when the user asks to with from files step by safely before after team project checks reports and for using large small production staging cluster service tables pages documents errors"
)

// benchSize is the number of packs in the benchmarks.
const benchSize = 100_000

func BenchmarkBuild(b *testing.B) {
	for b.Loop() {
		if err := build(io.Discard, generated(benchSize)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFind opens the index each time, like a new process.
func BenchmarkFind(b *testing.B) {
	c := Cache{Dir: b.TempDir()}
	if _, err := c.Build("r", "1", generated(benchSize)); err != nil {
		b.Fatal(err)
	}
	for _, query := range []string{"kubernetes", "deploy kubernetes production cluster", "kubrenetes deplyo", "when the user asks", "ku", "owner-0000100", "pdf invoice export spreadsheets validate"} {
		b.Run(strings.ReplaceAll(query, " ", "_"), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				x, err := c.Open("r", "1")
				if err != nil {
					b.Fatal(err)
				}
				if a, err := find(x, query, 20); err != nil || len(a.Hits) == 0 {
					b.Fatal(a, err)
				}
				x.Close()
			}
		})
	}
}
