package pack

import (
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
)

// IsHub reports whether sources of a kind are registries with an HTTP API of their own, which have packs by owner,
// name, and version.
func IsHub(kind Kind) bool { return kind == KindClawHub || kind == KindAPM }

// hubScheme returns a parser for what follows kind+scheme://, which is host[/path]//owner/name[:version][@digest].
func hubScheme(kind Kind, scheme string) func(rest string) (Ref, error) {
	return func(rest string) (Ref, error) {
		address, text, ok := strings.Cut(rest, "//")
		if !ok {
			return Ref{}, diag.Errorf(diag.Usage, "the source does not name a pack after //").
				WithHint("add the registry with: skillpm registry add NAME %s+%s://%s", kind, scheme, address)
		}
		site, err := parseWebsite(scheme, address)
		if err != nil {
			return Ref{}, err
		}
		ref, err := parseInLayout(kind, text)
		ref.URL = site.URL
		return ref, err
	}
}
