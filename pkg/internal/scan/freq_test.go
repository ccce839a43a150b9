package scan

import (
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"
)

func TestFreq(t *testing.T) {
	root := os.Getenv("FREQ")
	if root == "" {
		t.Skip()
	}
	s := New()
	cnt := map[string]int{}
	dur := map[int]time.Duration{}
	files := 0
	var total int
	var all [][]byte
	var opts []Options
	filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil
		}
		b, _ := os.ReadFile(p)
		if Sniff(b) != Text {
			return nil
		}
		files++
		total += len(b)
		all = append(all, b)
		opts = append(opts, Options{Markdown: strings.HasSuffix(p, ".md"), Script: ScriptName(p)})
		return nil
	})
	t0 := time.Now()
	for i, b := range all {
		s.Text(b, opts[i])
	}
	t.Log("total", time.Since(t0), files, total)
	for i, data := range all {
		x := text{data: data, Options: opts[i]}
		for k := s.filter.next(data, 0); k >= 0; k = s.filter.next(data, k+1) {
			for e := s.filter.lookup(gramAt(data, k)); e != 0; {
				c := s.filter.entries[e-1]
				e = c.next
				l := &s.literals[c.literal]
				st := k - int(c.offset)
				en := st + len(l.text)
				if st < 0 || en > len(data) || !l.is(data[st:en]) {
					continue
				}
				if l.check == checkShape {
					cnt[l.text]++
					t1 := time.Now()
					x.shape(s, l.arg, st, en)
					dur[l.arg] += time.Since(t1)
				}
			}
		}
	}
	type kv struct {
		k string
		v int
	}
	var kvs []kv
	for k, v := range cnt {
		kvs = append(kvs, kv{k, v})
	}
	sort.Slice(kvs, func(i, j int) bool { return kvs[i].v > kvs[j].v })
	for i := 0; i < 50 && i < len(kvs); i++ {
		t.Log(kvs[i])
	}
	type dv struct {
		k int
		v time.Duration
	}
	var ds []dv
	for k, v := range dur {
		ds = append(ds, dv{k, v})
	}
	sort.Slice(ds, func(i, j int) bool { return ds[i].v > ds[j].v })
	for i := 0; i < 25 && i < len(ds); i++ {
		t.Log(ds[i].v, s.shapes[ds[i].k].rule.ID, s.shapes[ds[i].k].shape.About)
	}
}
