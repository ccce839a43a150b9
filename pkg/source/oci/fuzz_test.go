package oci_test

import (
	"bytes"
	"net/url"
	"strings"
	"testing"
	"unicode"

	"github.com/skillpm/skillpm/pkg/source/oci"
)

// FuzzStatus checks that a parsed status is parsed the same after writing, and is printable.
func FuzzStatus(f *testing.F) {
	f.Add([]byte(`{"yanked":{"1.4.0":"deletes the <wrong> cluster"},"deprecated":"use acme/other"}`))
	f.Add([]byte(`{"yanked":{"v1":"x","1.0.0+b":"\u001b[31m","1.0.0":"\u0000\u009b"},"more":[1]}`))
	f.Add([]byte(`{"yanked":{"1.0.0":"\u0000 x \u0000 y\u0000 "}}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, data []byte) {
		once, err := oci.StatusRoundTrip(data)
		if err != nil {
			return
		}
		if twice, err := oci.StatusRoundTrip(once); err != nil || !bytes.Equal(once, twice) {
			t.Errorf("%q becomes %q (%v)", once, twice, err)
		}
		if bytes.ContainsFunc(once, unicode.IsControl) {
			t.Errorf("%q is not printable", once)
		}
	})
}

// FuzzTagsOf checks for any annotation that the keywords of a pack are few, short, and printable.
func FuzzTagsOf(f *testing.F) {
	f.Add(`["k8s","roll & back"]`)
	f.Add(`["\u001b[31m","", "` + strings.Repeat("x", 100) + `"]`)
	f.Fuzz(func(t *testing.T, text string) {
		tags := oci.TagsOf(text)
		if len(tags) > 32 {
			t.Errorf("%d tags", len(tags))
		}
		for _, tag := range tags {
			if tag == "" || len(tag) > 64 || strings.ContainsFunc(tag, unicode.IsControl) {
				t.Errorf("%q", tag)
			}
		}
	})
}

// FuzzNextPage checks that no Link header leads to another server.
func FuzzNextPage(f *testing.F) {
	for _, link := range []string{`</v2/a/tags/list?last=x>; rel="next"`, `<https://evil.example/>`, `<//evil.example/x>`, `<http://registry.example/>`, "<", ""} {
		f.Add(link)
	}
	at := &url.URL{Scheme: "https", Host: "registry.example", Path: "/v2/a/tags/list"}
	f.Fuzz(func(t *testing.T, link string) {
		if next, err := oci.NextPage(link, at); err == nil && next != nil && (next.Host != at.Host || next.Scheme != at.Scheme) {
			t.Errorf("%q leads to %s", link, next)
		}
	})
}
