package lsp

import (
	"testing"

	"go.lsp.dev/protocol"
)

func TestPathOf(t *testing.T) {
	for _, tt := range []struct {
		uri     protocol.DocumentURI
		windows bool
		want    string
	}{
		{"file:///home/me/a%20b/%C3%BC.md", false, "/home/me/a b/ü.md"},
		{"file:///home/me/a%23b%25.md", false, "/home/me/a#b%.md"},
		{"file:///home/me/../you/./x", false, "/home/you/x"},
		{"file://localhost/x", false, "/x"},
		{"FILE:///x", false, "/x"},
		{"file:///c%3A/Users/me/SKILL.md", true, "C:/Users/me/SKILL.md"},
		{"file:///C:/Users/me/SKILL.md", true, "C:/Users/me/SKILL.md"},
		{"file:///c:", true, "C:/"},
		{"file:///c:/", true, "C:/"},
		{"file://server/share/x.md", true, "//server/share/x.md"},
		{"file:///c%3A/x", false, "/c:/x"},
		{"file://server/share/x.md", false, ""},
		{"untitled:Untitled-1", false, ""},
		{"git:/home/me/x", false, ""},
		{"file:", false, ""},
		{"file:relative", false, ""},
		{"file:///a%00b", false, ""},
		{"file:///a%zz", false, ""},
		{"", false, ""},
		{"/home/me", false, ""},
	} {
		if got := pathOf(tt.uri, tt.windows); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.uri, got, tt.want)
		}
	}
}

func TestURIOf(t *testing.T) {
	for _, tt := range []struct {
		path    string
		windows bool
		want    protocol.DocumentURI
	}{
		{"/home/me/a b/ü#%.md", false, "file:///home/me/a%20b/%C3%BC%23%25.md"},
		{"C:/Users/me/SKILL.md", true, "file:///C:/Users/me/SKILL.md"},
		{"//server/share/x.md", true, "file://server/share/x.md"},
	} {
		got := uriOf(tt.path)
		if got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.path, got, tt.want)
		}
		if back := pathOf(got, tt.windows); back != tt.path {
			t.Errorf("%s: got back %s", tt.path, back)
		}
	}
}

func TestSlashed(t *testing.T) {
	for _, tt := range []struct {
		path    string
		windows bool
		want    string
	}{
		{"/a/b/../c", false, "/a/c"},
		{`c:\Users\me`, true, "C:/Users/me"},
		{`\\server\share\x`, true, "//server/share/x"},
		{`/a\b`, false, `/a\b`},
	} {
		if got := toSlash(tt.path, tt.windows); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.path, got, tt.want)
		}
	}
}

func TestSplit(t *testing.T) {
	for _, tt := range []struct{ path, root, name string }{
		{"/home/me", "/", "home/me"},
		{"/", "/", "."},
		{"C:/Users", "C:/", "Users"},
		{"C:/", "C:/", "."},
		{"//server/share/x/y", "//server/share/", "x/y"},
		{"//server/share", "//server/share/", "."},
	} {
		if root, name := splitVolume(tt.path); root != tt.root || name != tt.name {
			t.Errorf("%s: got %q, %q, want %q, %q", tt.path, root, name, tt.root, tt.name)
		}
	}
}

func TestRelative(t *testing.T) {
	for _, tt := range []struct{ dir, path, want string }{
		{"/s", "/s/a.md", "a.md"},
		{"/s", "/s/references/a.md", "references/a.md"},
		{"/s/references", "/s/a.md", "../a.md"},
		{"/s/a/b", "/s/c/d.md", "../../c/d.md"},
		{"/", "/x", "x"},
	} {
		if got := relative(tt.dir, tt.path); got != tt.want {
			t.Errorf("%s from %s: got %q, want %q", tt.path, tt.dir, got, tt.want)
		}
	}
}

func FuzzPathOf(f *testing.F) {
	f.Add("file:///c%3A/x", true)
	f.Add("file://server/share", true)
	f.Add("file:///a/b", false)
	f.Add("file:/../A:", true)
	f.Fuzz(func(t *testing.T, uri string, windows bool) {
		p := pathOf(protocol.DocumentURI(uri), windows)
		if p == "" {
			return
		}
		if !isAbsolute(p) {
			t.Fatalf("%q: got %q, which is not absolute", uri, p)
		}
		if back := pathOf(uriOf(p), windows); back != p {
			t.Errorf("%q: got %q, then %s and %q", uri, p, uriOf(p), back)
		}
		if root, name := splitVolume(p); root == "" || name == "" || name[0] == '/' {
			t.Errorf("%q: split into %q and %q", p, root, name)
		}
	})
}
