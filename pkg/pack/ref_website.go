package pack

import (
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
)

// websitePrefix precedes the URL of a website in its canonical form.
const websitePrefix = "well-known+"

// wellKnown is the part of a path that everything below is at a well-known URI (RFC 8615).
const wellKnown = ".well-known"

// WebsiteDirs returns the directories of a website that may have an index of skills, the newest form first.
func WebsiteDirs() []string { return []string{wellKnown + "/agent-skills", wellKnown + "/skills"} }

// parseWebsite parses what follows the scheme of a website. The URL of its index stands for the website.
func parseWebsite(scheme, rest string) (Ref, error) {
	authority, path, _ := strings.Cut(rest, "/")
	if strings.Contains(authority, "@") {
		return Ref{}, credentialError()
	}
	if strings.ContainsAny(rest, "?#") {
		return Ref{}, diag.Errorf(diag.Usage, "the URL of a website must not contain a query or fragment").
			WithHint("use https://HOST/PATH, or git+https:// and #REVISION for a git repository")
	}
	host, err := canonicalHost(authority, map[string]string{"https": "443", "http": "80"}[scheme])
	if err != nil {
		return Ref{}, err
	}
	if scheme == "http" && !isLoopback(host) {
		return Ref{}, diag.Errorf(diag.Usage, "plain HTTP is not allowed for packs").
			WithHint("write https://%s/…", host)
	}
	path, err = websitePath(host, strings.TrimRight(path, "/"))
	if err != nil || path == "" {
		return Ref{Kind: KindWebsite, URL: scheme + "://" + host}, err
	}
	if path, err = canonicalPath(path); err != nil {
		return Ref{}, err
	}
	return Ref{Kind: KindWebsite, URL: scheme + "://" + host + "/" + path}, nil
}

// websitePath returns what precedes the index in the path of a URL.
func websitePath(host, path string) (string, error) {
	for _, dir := range WebsiteDirs() {
		if index := strings.TrimSuffix(path, "/index.json"); index == dir || strings.HasSuffix(index, "/"+dir) {
			return strings.TrimRight(strings.TrimSuffix(index, dir), "/"), nil
		}
		if before, name, ok := strings.Cut("/"+path, "/"+dir+"/"); ok {
			name, _, _ = strings.Cut(name, "/")
			return "", diag.Errorf(diag.Usage, "the URL is that of a skill, not of a website").
				WithHint("use https://%s%s --skill %s", host, before, name)
		}
	}
	return path, nil
}
