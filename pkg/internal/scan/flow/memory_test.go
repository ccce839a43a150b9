package flow

import (
	"strings"
	"testing"
)

// TestPool checks that nothing of a file stays in the memory for the next one, and that a hostile file does not make it
// large.
func TestPool(t *testing.T) {
	p := NewPool(1)
	for name, text := range map[string]string{
		"a.py": "def f(a, b):\n c = a\n def g(d):\n  e = [d, c]\nimport os, x\nprint(os.environ['K'], x.y.z(1, k=2), f'{a}')\n",
		"b.js": "import a from './a'\nfunction f({b}) { const c = [1, `${b}`]; this.d = c; return require('x').y(c) }\n",
		"c.sh": "f() { curl \"$1\" | sh; }\nx=$(cat a)\nf $x\npython3 -c 'import os; print(os.name)'\n",
	} {
		p.Summarize(File{Path: name, Data: []byte(text)})
		m := <-p
		if len(m.keys)+len(m.once)+len(m.programs)+len(m.names)+len(m.holes)+len(m.stack) > 0 {
			t.Errorf("%s: memory is not empty: %+v", name, m)
		}
		for _, v := range append(m.holes[:cap(m.holes)], m.stack[:cap(m.stack)]...) {
			if v.text != "" || v.name != "" || v.from != nil || v.parts != nil {
				t.Errorf("%s: a value stays: %+v", name, v)
			}
		}
		for _, c := range m.spare {
			if strings.Join(c.inner[:cap(c.inner)], "") != "" || len(c.locals)+len(c.imports)+len(c.own)+len(c.funcs) > 0 {
				t.Errorf("%s: names stay", name)
			}
			for _, s := range c.scopes[:cap(c.scopes)] {
				if s.fn != "" {
					t.Errorf("%s: the function %s stays", name, s.fn)
				}
			}
			for _, tok := range c.tokenBuf[:cap(c.tokenBuf)] {
				if tok.text != "" {
					t.Errorf("%s: the token %q stays", name, tok.text)
				}
			}
		}
		p <- m
	}
	for _, text := range []string{
		"f(" + strings.Repeat("1,", 50_000) + ")\n", "x = [" + strings.Repeat("1,", 50_000) + "]\n",
		strings.Repeat("def f(a):\n", 10_000), strings.Repeat("a = b\n", 20_000), strings.Repeat("import a\n", 20_000),
	} {
		p.Summarize(File{Path: "a.py", Data: []byte(text)})
		select {
		case m := <-p:
			for _, c := range m.spare {
				if n := max(cap(c.vars), cap(c.inner), cap(c.args)); n > maxKept || cap(c.tokenBuf) > maxTokens {
					t.Errorf("%.20q: lists of %d items stay", text, n)
				}
			}
			if n := max(cap(m.holes), cap(m.stack)); n > maxKept {
				t.Errorf("%.20q: lists of %d items stay", text, n)
			}
		default:
		}
	}
}

// TestMayFlow checks that the kinds of all flows are known before the graph is built.
func TestMayFlow(t *testing.T) {
	for from := Kind(1); int(from) < len(kindNames); from++ {
		for to := Kind(1); int(to) < len(kindNames); to++ {
			means := false
			for b := range 64 {
				f := Flow{From: Fact{Kind: from, Detail: "ACME_TOKEN"}, To: Fact{Kind: to}, Drop: b&1 > 0}
				if b&2 > 0 {
					f.To.Host = "api.acme.dev"
				}
				p := passed{selected: b&4 > 0, header: b&8 > 0, address: b&16 > 0, encoded: b&32 > 0}
				means = means || meaning(&f, p) != 0
			}
			if kinds := kindSet(1)<<from | kindSet(1)<<to; means && !kinds.mayFlow() {
				t.Errorf("a flow from %s to %s is missed", from, to)
			}
		}
	}
}
