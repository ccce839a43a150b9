package author

import (
	"path/filepath"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/registry"
	"github.com/skillpm/skillpm/pkg/source"
)

// publishTarget returns the place that a pack is published at. Without a word about it that is the OCI registry which the
// settings of the user, or of the machine's administrator, bind the pack's owner to: a pack of that owner is looked up
// nowhere else. What the project's own file binds has no say, or a repository could choose where its users push to.
func (c *Client) publishTarget(to string, id source.ID) (at source.Ref, bound bool, err error) {
	place, err := c.registryAt(to, id)
	if err != nil {
		return at, false, err
	}
	if to == "" {
		if !strings.HasPrefix(place, "oci://") { // unbound, or bound to an index, which is made in another way
			place = ""
		}
		bound = place != ""
	}
	at, err = c.target(place, id)
	return at, bound, err
}

// target returns the place of a pack in a registry or layout that somebody wrote.
func (c *Client) target(to string, id source.ID) (source.Ref, error) {
	switch {
	case to == "" || to == "local":
		return source.Ref{Kind: source.KindLocal, ID: id}, nil
	case strings.HasPrefix(to, "oci://"):
		return source.Parse(registry.Repository(strings.TrimSuffix(to, "/"), id))
	case strings.HasPrefix(to, "oci-layout:"):
		dir := strings.TrimPrefix(to, "oci-layout:")
		if dir == "" {
			return source.Ref{}, diag.Errorf(diag.Usage, "--to oci-layout: names no directory").WithHint("write oci-layout:DIR")
		}
		return source.Ref{Kind: source.KindLayout, URL: filepath.ToSlash(c.Machine.Abs(dir)), ID: id}, nil
	default:
		return source.Ref{}, diag.Errorf(diag.Usage, "%q is not a place to publish to", to).
			WithHint("write oci://HOST/NAMESPACE or oci-layout:DIR")
	}
}
