package registry

import (
	"context"
	"net/url"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/httpx"
	"github.com/skillpm/skillpm/pkg/internal/jsonx"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/skill"
	"github.com/skillpm/skillpm/pkg/source/oci"
)

// clawHub is the ClawHub HTTP API v1 (github.com/openclaw/clawhub, docs/http-api.md and
// packages/clawhub/src/schema/schemas.ts). A pack's owner is the handle of the publisher, and its name is the slug of
// the skill. A server without publishers (owner is null) answers for the owners that are bound to it.
type clawHub struct{ hubServer }

// clawHubSkill is the answer to GET /api/v1/skills/{slug}.
type clawHubSkill struct {
	Skill *struct {
		Slug string `json:"slug"`
	} `json:"skill"`
	Owner *struct {
		Handle string `json:"handle"`
	} `json:"owner"`
	Moderation *struct {
		IsSuspicious     bool   `json:"isSuspicious"`
		IsMalwareBlocked bool   `json:"isMalwareBlocked"`
		Summary          string `json:"summary"`
	} `json:"moderation"`
}

// at returns the URL of an endpoint. The publisher selects one of several skills with the same slug.
func (c clawHub) at(ref pack.Ref, query url.Values, path ...string) *url.URL {
	at := c.base.JoinPath(append([]string{"api", "v1"}, path...)...)
	query.Set("ownerHandle", ref.ID.Owner)
	at.RawQuery = query.Encode()
	return at
}

// skill returns the state of a skill, after it has checked that the skill is the publisher's.
func (c clawHub) skill(ctx context.Context, ref pack.Ref) (*clawHubSkill, error) {
	var s clawHubSkill
	if err := c.getJSON(ctx, c.at(ref, url.Values{}, "skills", ref.ID.Name), &s); err != nil {
		return nil, err
	}
	other := s.Skill == nil || !strings.EqualFold(s.Skill.Slug, ref.ID.Name) // a renamed skill has another slug
	if s.Owner != nil && s.Owner.Handle != "" {
		other = other || !strings.EqualFold(strings.TrimPrefix(s.Owner.Handle, "@"), ref.ID.Owner)
	}
	if other {
		return nil, diag.Errorf(diag.NotFound, "%s does not contain %s", c.base.Host, ref.ID)
	}
	return &s, nil
}

func (c clawHub) list(ctx context.Context, ref pack.Ref) ([]string, oci.Status, error) {
	if _, err := c.skill(ctx, ref); err != nil {
		return nil, oci.Status{}, err
	}
	var list []string
	query := url.Values{"limit": {"200"}}
	for range maxHubPages {
		var page struct {
			Items []struct {
				Version string `json:"version"`
			} `json:"items"`
			NextCursor string `json:"nextCursor"`
		}
		if err := c.getJSON(ctx, c.at(ref, query, "skills", ref.ID.Name, "versions"), &page); err != nil {
			return nil, oci.Status{}, err
		}
		for _, item := range page.Items {
			if len(item.Version) <= maxHubVersion {
				list = append(list, item.Version)
			}
		}
		if page.NextCursor == "" {
			return list, oci.Status{}, nil
		}
		query.Set("cursor", page.NextCursor)
	}
	return nil, oci.Status{}, diag.Errorf(diag.Remote, "%s lists the versions of %s on more than %d pages", c.base.Host,
		ref.ID, maxHubPages)
}

func (c clawHub) download(ctx context.Context, ref pack.Ref) (*hubDownload, error) {
	s, err := c.skill(ctx, ref)
	if err != nil {
		return nil, err
	}
	d := &hubDownload{zip: true}
	if m := s.Moderation; m != nil && m.IsMalwareBlocked {
		return nil, diag.Errorf(diag.Denied, "%s blocks %s as malware: %s", c.base.Host, ref.ID, reasonText(m.Summary))
	} else if m != nil && m.IsSuspicious {
		d.warnings = []string{ref.ID.String() + " is suspicious according to " + c.base.Host + ": " + reasonText(m.Summary)}
	}
	query := url.Values{"slug": {ref.ID.Name}, "version": {ref.Rev}}
	data, header, err := c.get(ctx, c.at(ref, query, "download"), "application/zip", maxHubArchive)
	if err != nil {
		return nil, err
	}
	if strings.Contains(header.Get("Content-Type"), "json") {
		return nil, elsewhereError(ref, data)
	}
	d.data = data
	return d, nil
}

// elsewhereError reports a skill of which the registry has only the repository.
func elsewhereError(ref pack.Ref, data []byte) error {
	var source struct {
		Repo   string `json:"repo"`
		Commit string `json:"commit"`
		Path   string `json:"path"`
	}
	err := diag.Errorf(diag.Invalid, "%s does not have the files of %s", ref.Source(), ref.ID)
	if jsonx.Decode(data, &source, jsonx.Options{ExactKeys: true}) != nil {
		return err
	}
	text := "github.com/" + source.Repo
	if path := strings.Trim(source.Path, "/"); path != "" && path != "." {
		text += "//" + path
	}
	if at, parseErr := pack.Parse(text + "#" + source.Commit); parseErr == nil && at.Kind == pack.KindGit {
		return err.WithHint("install the skill from its repository: skillpm install %s",
			skill.QuoteArgument(at.String()))
	}
	return err
}

// reasonText returns the reason of a moderator for a message.
func reasonText(s string) string {
	if s == "" {
		return "no reason given"
	}
	return httpx.Clean(s)
}
