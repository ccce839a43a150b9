package skillpm

import (
	"cmp"
	"context"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/base"
	"github.com/skillpm/skillpm/pkg/source/registry"
)

// checkAddress refuses an address of a git repository that lacks its scheme, because it would be taken for a directory.
func (c *Client) checkAddress(url string) error {
	rest, isGit := strings.CutPrefix(url, "git://")
	host, _, isPath := strings.Cut(rest, "/")
	if !isGit {
		if _, err := os.Stat(c.Machine.Abs(filepath.FromSlash(url))); err == nil || !isPath {
			return nil
		}
		if isHostPort(host) {
			return diag.Errorf(diag.Usage, "%s is not the address of a registry: the scheme is missing", url).
				WithHint("use oci://%s for an OCI registry, or https://%s for an index on a web server", url, url)
		}
		if strings.ContainsAny(host, `:@\`) ||
			!strings.Contains(strings.Trim(host, "."), ".") || strings.HasPrefix(host, ".") {
			return nil
		}
	}
	return diag.Errorf(diag.Usage, "invalid registry address %s", url).
		WithHint(
			"use git+https://%s for a git repository, https://%s for an index on a web server, or oci://%s for an OCI registry",
			rest, rest, rest)
}

// isHostPort reports whether a text is HOST:PORT, which a directory is never called in practice.
func isHostPort(text string) bool {
	host, port, err := net.SplitHostPort(text)
	if err != nil || len(host) < 2 { // "C:" is a drive
		return false
	}
	_, err = strconv.ParseUint(port, 10, 16)
	return err == nil
}

// registryURL returns an address of the command line in the form for a settings file: directories are relative in a
// project's file, and absolute in the user's.
func (c *Client) registryURL(url, dir string, inProject bool) string {
	scheme, rest, isLayout := strings.Cut(url, "oci-layout:")
	if !isLayout || scheme != "" {
		rest = url
	}
	if strings.Contains(rest, "://") || registry.IsBuiltIn(rest) ||
		strings.HasPrefix(rest, "git+") || strings.Contains(rest, "@") {
		return url
	}
	at := c.Machine.Abs(filepath.FromSlash(rest))
	if rel, err := filepath.Rel(dir, at); err == nil && inProject {
		if at = filepath.ToSlash(rel); !strings.HasPrefix(at, ".") {
			at = "./" + at
		}
	} else {
		at = filepath.ToSlash(at)
	}
	if isLayout && scheme == "" {
		return "oci-layout:" + at
	}
	return at
}

// checkReachable returns an error unless a registry answers.
func (c *Client) checkReachable(ctx context.Context, url string, skipCheck bool) error {
	if skipCheck {
		return nil
	}
	w, err := c.Machine.Open(scope.KindProject, true)
	if err != nil {
		return err
	}
	services, err := c.Services(ctx, w, base.ServiceOptions{})
	if err != nil {
		return err
	}
	c.Progress(Event{Text: "asking " + url})
	if strings.HasPrefix(url, "oci://") && services.Registries.Ping(ctx, "index+"+url) == nil {
		return diag.Errorf(diag.Usage, "cannot add %s: it is an index, not an OCI prefix with packs",
			url).
			WithHint("did you mean index+%s?", url)
	}
	if err := services.Registries.Ping(ctx, url); err != nil {
		return diag.Errorf(diag.CodeOf(err), "cannot add %s: %w", url, err).
			WithHint("%s", cmp.Or(diag.HintOf(err), "use --no-check to add the registry without a check"))
	}
	return nil
}
