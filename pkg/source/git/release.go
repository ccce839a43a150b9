package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/Masterminds/semver/v3"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
)

// ReleaseError reports a tag for a version that does not contain a pack of that version.
type ReleaseError struct {
	URL     string
	Tag     string
	Version string // of the tag
	Found   string // the version that the manifest declares; "" if the pack cannot be read
	Err     error  // why the pack cannot be read

	ref pack.Ref
}

// Error names the tag, the repository, and the version that it contains, or returns why the pack cannot be read.
func (e *ReleaseError) Error() string {
	if e.Err != nil {
		return e.Err.Error()
	}
	return fmt.Sprintf("tag %s of %s contains version %s", e.Tag, e.URL, e.Found)
}

// Warning returns the sentence about a release that was left out for another one.
func (e *ReleaseError) Warning() string {
	if e.Err != nil {
		return fmt.Sprintf("left out version %s of %s (tag %s): %v", e.Version, e.URL, e.Tag, e.Err)
	}
	return fmt.Sprintf("left out version %s of %s: tag %s contains version %s", e.Version, e.URL, e.Tag, e.Found)
}

// Code returns diag.Invalid, or NotFound if the tag does not contain any skills.
func (e *ReleaseError) Code() diag.Code {
	if e.Err != nil {
		return diag.CodeOf(e.Err)
	}
	return diag.Invalid
}

// Hint returns how to install the commit of the tag if only its version is wrong.
func (e *ReleaseError) Hint() string {
	if e.Err != nil {
		return diag.HintOf(e.Err)
	}
	return "use the tag to install the version anyway: " + refText(e.ref)
}

// Unwrap returns why the pack cannot be read.
func (e *ReleaseError) Unwrap() error { return e.Err }

// maxBadReleases is how many tags that do not contain their version are left out before their repository counts as
// broken.
const maxBadReleases = 20

// openRelease opens a pinned reference or, if the tag that a range selected does not contain its version, the next
// release in the range.
func (c *Client) openRelease(ctx context.Context, ref pack.Ref) (pinned, *pack.Content, []string, error) {
	bad := map[string]bool{}
	var warnings []string
	var first error
	for {
		at, err := c.pin(ctx, ref, bad)
		if err != nil {
			return at, nil, nil, cmp.Or(first, err)
		}
		if first != nil && at.version == "" {
			return at, nil, nil, first // only the default branch is left, which nobody asked for
		}
		content, err := c.describeRelease(ctx, at)
		release, ok := errors.AsType[*ReleaseError](err)
		if !ok || isExact(ref.Constraint) || len(bad) == maxBadReleases {
			return at, content, warnings, err
		}
		if first == nil {
			first = err
		}
		bad[at.Rev] = true
		warnings = append(warnings, release.Warning())
	}
}

// describeRelease describes a pinned pack. The error is a [ReleaseError] if the fault is that of a release's tag.
func (c *Client) describeRelease(ctx context.Context, at pinned) (*pack.Content, error) {
	content, _, err := c.describe(ctx, at)
	if err == nil && at.version != "" && content.Version != at.version {
		return nil, &ReleaseError{
			URL: at.URL, Tag: at.Rev, Version: at.version, Found: content.Version, ref: at.Ref,
		}
	}
	return content, err
}

// isExact reports whether a constraint allows one version only.
func isExact(constraint string) bool {
	if len(constraint) > 0 && constraint[0] == '=' {
		constraint = constraint[1:]
	}
	_, err := semver.StrictNewVersion(constraint)
	return err == nil
}
