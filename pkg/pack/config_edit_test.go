package pack_test

import (
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
)

func lookups(t *testing.T, text string) *pack.RegistryFile {
	t.Helper()
	l, err := pack.ParseRegistryFile("config.yaml", []byte(text), false)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestAddRegistry(t *testing.T) {
	acme := pack.Registry{Name: "acme", URL: "https://packs.example/index"}
	item := `{name: "acme", url: "https://packs.example/index"}`
	for _, tt := range []struct{ name, text, want string }{
		{"nothing", "", "registries:\n  - " + item + "\n"},
		{"other keys", "# mine\ngit: system # fast\n", "# mine\ngit: system # fast\nregistries:\n  - " + item + "\n"},
		{"no end of line", "git: system", "git: system\nregistries:\n  - " + item},
		{"a null", "registries: # none yet\ngit: system\n", "registries:\n  - " + item + " # none yet\ngit: system\n"},
		{"an empty list", "registries: []\n", "registries: [" + item + "]\n"},
		{
			"a list", "registries:\n  # the first\n  - https://a.example # a\n  - name: b\n    url: https://b.example\n\n# git\ngit: system\n",
			"registries:\n  # the first\n  - https://a.example # a\n  - name: b\n    url: https://b.example\n  - " + item + "\n\n# git\ngit: system\n",
		},
		{"a list that is not indented", "registries:\n- https://a.example\n", "registries:\n- https://a.example\n- " + item + "\n"},
		{"one line", "registries: [https://a.example] # all\n", "registries: [https://a.example, " + item + "] # all\n"},
		{"one line with a comma", "registries: [https://a.example,]\n", "registries: [https://a.example, " + item + "]\n"},
		{"Windows", "git: system\r\nregistries:\r\n  - https://a.example\r\n", "git: system\r\nregistries:\r\n  - https://a.example\r\n  - " + item + "\r\n"},
		{"JSON", `{"git": "system"}`, `{"git": "system", "registries": [{"name": "acme", "url": "https://packs.example/index"}]}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := lookups(t, tt.text)
			if err := l.Add(acme); err != nil {
				t.Fatal(err)
			}
			if got := string(l.Bytes()); got != tt.want {
				t.Errorf("got\n%q\nwant\n%q", got, tt.want)
			}
			if got, ok := l.Registry("acme"); !ok || got != acme {
				t.Errorf("got %+v", l.Registries)
			}
			before := string(l.Bytes())
			if err := l.Add(acme); err != nil || string(l.Bytes()) != before {
				t.Errorf("a second time: %v\n%s", err, l.Bytes())
			}
		})
	}
}

func TestAddRegistryRefuses(t *testing.T) {
	for _, tt := range []struct {
		text string
		add  pack.Registry
		code diag.Code
		want string
	}{
		{"registries: [{name: a, url: https://a.example}]\n", pack.Registry{Name: "a", URL: "https://b.example"}, diag.Conflict, "https://a.example"},
		{"", pack.Registry{Name: "a b", URL: "https://b.example"}, diag.Invalid, "must consist of letters"},
		{"", pack.Registry{Name: "a", URL: "http://b.example"}, diag.Invalid, "requires HTTPS"},
		{"", pack.Registry{Name: "a", URL: "https://b.example;id/x"}, diag.Invalid, "is not a valid address"},
		{"", pack.Registry{Name: "a", URL: "oci://$HOME/x"}, diag.Invalid, "is not a valid address"},
		{"", pack.Registry{Name: "a", URL: "./a\u202eb"}, diag.Invalid, "is not a valid address"},
		{"", pack.Registry{Name: "a", URL: "./a\u009b2Jb"}, diag.Invalid, "is not a valid address"},
		{"", pack.Registry{Name: "a", URL: "https://u:p@b.example"}, diag.Invalid, "credentials"},
		{"registries: &all\n  - https://a.example\n", pack.Registry{Name: "a", URL: "https://b.example"}, diag.Invalid, ""},
	} {
		l, err := pack.ParseRegistryFile("config.yaml", []byte(tt.text), false)
		if err != nil {
			continue // the file itself is refused
		}
		if err := l.Add(tt.add); err != nil && (diag.CodeOf(err) != tt.code || !strings.Contains(err.Error(), tt.want)) || err == nil {
			t.Errorf("%q %+v: got %v, want %q", tt.text, tt.add, err, tt.want)
		}
		if string(l.Bytes()) != tt.text {
			t.Errorf("%q was changed to %q", tt.text, l.Bytes())
		}
		if tt.want != "requires HTTPS" {
			continue
		}
		for _, err := range []error{l.Add(tt.add), l.Bind("acme", tt.add.URL)} {
			if diag.CodeOf(err) != tt.code || strings.Contains(err.Error(), "config.yaml") {
				t.Errorf("%v: must not name a line that was not written", err)
			}
		}
	}
}

func TestRemoveRegistry(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"the only one", "git: system\nregistries:\n  - {name: acme, url: https://p.example}\n", "git: system\n"},
		{"the only one, with a comment", "registries:\n  # mine\n  - {name: acme, url: https://p.example}\n", "registries:\n  # mine\n  []\n"},
		{"the first", "registries:\n  - name: acme # x\n    url: https://p.example\n  # b\n  - https://b.example\n", "registries:\n  # b\n  - https://b.example\n"},
		{"the last", "registries:\n- https://b.example\n- {name: acme, url: https://p.example}\n\ngit: system\n", "registries:\n- https://b.example\n\ngit: system\n"},
		{"one line", "registries: [https://b.example, {name: acme, url: https://p.example}]\n", "registries: [https://b.example]\n"},
		{"one line, the first", "registries: [{name: acme, url: https://p.example}, https://b.example]\n", "registries: [https://b.example]\n"},
		{"one line, the only one", "registries: [{name: acme, url: https://p.example}]\ngit: system\n", "git: system\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := lookups(t, tt.text)
			if ok, err := l.Remove("acme"); err != nil || !ok {
				t.Fatal(ok, err)
			}
			if got := string(l.Bytes()); got != tt.want {
				t.Errorf("got\n%q\nwant\n%q", got, tt.want)
			}
			if ok, err := l.Remove("acme"); err != nil || ok {
				t.Error("it was there twice", err)
			}
		})
	}
}

func TestBind(t *testing.T) {
	l := lookups(t, "# where\nnamespaces:\n  globex: a # theirs\n")
	if err := l.Bind("acme", "oci://registry.example/acme"); err != nil {
		t.Fatal(err)
	}
	if err := l.Bind("globex", "b"); err != nil {
		t.Fatal(err)
	}
	want := "# where\nnamespaces:\n  globex: \"b\" # theirs\n  acme: \"oci://registry.example/acme\"\n"
	if got := string(l.Bytes()); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if err := l.Bind("Acme", "b"); diag.CodeOf(err) != diag.Invalid {
		t.Errorf("an owner that is none: %v", err)
	}
	for _, owner := range []string{"acme", "globex"} {
		if ok, err := l.Unbind(owner); err != nil || !ok {
			t.Errorf("%s: %v %v", owner, ok, err)
		}
	}
	if ok, err := l.Unbind("acme"); ok || err != nil {
		t.Errorf("a second time: %v %v", ok, err)
	}
	m, err := pack.ParseRegistryFile("skillpm.yaml", []byte("name: acme/x # mine\n"), true)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Bind("acme", "b"); err != nil || string(m.Bytes()) != "name: acme/x # mine\nnamespaces:\n  acme: \"b\"\n" {
		t.Errorf("a manifest: %v\n%s", err, m.Bytes())
	}
}

func FuzzRegistryFile(f *testing.F) {
	f.Add("registries:\n  - https://a.example # a\n  - name: b\n    url: https://b.example\nnamespaces: {acme: b}\n", "acme")
	f.Add("{registries: [], git: system}", "x")
	f.Add("registries:\r\n- a\r\n\r\n# end", "b")
	f.Fuzz(func(t *testing.T, text, name string) {
		l, err := pack.ParseRegistryFile("config.yaml", []byte(text), false)
		if err != nil {
			return
		}
		had := len(l.Registries)
		if _, there := l.Registry(name); there || l.Add(pack.Registry{Name: name, URL: "https://fuzz.example/i"}) != nil {
			return
		}
		again, err := pack.ParseRegistryFile("config.yaml", l.Bytes(), false)
		if err != nil || len(again.Registries) != had+1 {
			t.Fatalf("%q became %q: %v", text, l.Bytes(), err)
		}
		if ok, err := again.Remove(name); err == nil && (!ok || len(again.Registries) != had) {
			t.Fatalf("%q: not removed from %q", name, again.Bytes())
		}
	})
}
