package publish

import (
	"path"
	"path/filepath"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/source/registry"
)

// publishTarget finds the place that a pack is published at. Without a word about it that is the OCI registry which the
// settings of the user, or of the machine's administrator, bind the pack's owner to: a pack of that owner is looked up
// nowhere else. What the project's own file binds has no say, or a repository could choose where its users push to.
func (c *Client) publishTarget(to string, id pack.ID) (t publishTarget, err error) {
	place, err := c.registryAt(to, id)
	if err != nil {
		return t, err
	}
	if to == "" {
		// an index is made in another way
		if place != "" && place != registry.Local && !strings.HasPrefix(place, "oci://") {
			t.warning = "it goes to this machine alone, where install does not look: the settings bind " + id.Owner +
				" to " + place +
				", which is no OCI registry (--to says where to publish)"
			place = ""
		}
		t.bound = place != ""
	}
	t.at, err = c.target(place, id)
	return t, err
}

// publishTarget is where a pack is published.
type publishTarget struct {
	at      pack.Ref
	bound   bool   // the settings say so
	warning string // what is to be said of it, "" for nothing
}

// target returns the place of a pack in a registry or layout that somebody wrote.
func (c *Client) target(to string, id pack.ID) (pack.Ref, error) {
	switch {
	case to == "" || to == "local":
		return pack.Ref{Kind: pack.KindLocal, ID: id}, nil
	case strings.HasPrefix(to, "oci://"):
		if last := path.Base(to); strings.ContainsAny(last, ":@") && strings.Count(to, "/") > 2 {
			return pack.Ref{}, diag.Errorf(diag.Usage,
				"%s: a place to publish to has no tag or digest: the version is the tag", to).
				WithHint("write %s", to[:len(to)-len(last)]+last[:strings.IndexAny(last, ":@")])
		}
		return pack.Parse(registry.Repository(strings.TrimSuffix(to, "/"), id))
	case strings.HasPrefix(to, "oci-layout:"):
		dir := strings.TrimPrefix(to, "oci-layout:")
		if dir == "" {
			return pack.Ref{}, diag.Errorf(diag.Usage, "--to oci-layout: names no directory").
				WithHint("write oci-layout:DIR")
		}
		return pack.Ref{Kind: pack.KindLayout, URL: filepath.ToSlash(c.Machine.Abs(dir)), ID: id}, nil
	default:
		hint := "write oci://HOST/NAMESPACE, oci-layout:DIR, local, or the name of a registry in your settings"
		if strings.HasPrefix(to, ".") || strings.HasPrefix(to, "/") {
			hint = "write oci-layout:" + to
		}
		return pack.Ref{}, diag.Errorf(diag.Usage, "%q is not a place to publish to", to).WithHint("%s", hint)
	}
}
