package publish

import (
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/policy/audit"
	"github.com/skillpm/skillpm/pkg/source/oci"
)

// maxReason is the maximum length of a reason or message, in characters.
const maxReason = 500

// StatusReport is the result of [Client.Yank] and [Client.Deprecate].
type StatusReport struct {
	Pack      string `json:"pack"`
	Version   string `json:"version,omitempty"` // "" means all versions
	Reference string `json:"reference"`         // the source whose status changed
	Yanked    string `json:"yanked,omitempty"`  // the reason why the version was yanked
	// Deprecated is the deprecation message of the pack.
	Deprecated string   `json:"deprecated,omitempty"`
	Changed    bool     `json:"changed"`
	Index      bool     `json:"index"` // Reference is in an index, whose other files index build regenerates
	Warnings   []string `json:"warnings,omitempty"`
}

// Yank withdraws a published version for a reason that users see. The solver no longer selects it, but a locked version
// stays installed. An empty reason restores the version.
func (c *Client) Yank(ctx context.Context, pk, reason, registry string) (*StatusReport, error) {
	name, version, ok := strings.Cut(pk, "@")
	if !ok || version == "" {
		return nil, diag.Errorf(diag.Usage, "%q does not have a version",
			pk).WithHint("add the version, such as %s@1.4.0", name)
	}
	id, err := pack.ParseID(name)
	if err != nil {
		return nil, diag.Errorf(diag.Usage, "%v", err)
	}
	if err := checkReason("reason", reason); err != nil {
		return nil, err
	}
	r, store, err := c.statusOf(ctx, id, registry, version)
	if err != nil {
		return nil, err
	}
	r.Version, r.Yanked = version, reason
	err = c.changeStatus(ctx, r, store, func(s *oci.Status) error {
		if s.Yanked == nil {
			s.Yanked = map[string]string{}
		}
		if r.Changed = s.Yanked[version] != reason; !r.Changed {
			return nil
		}
		if reason == "" {
			delete(s.Yanked, version)
		} else {
			s.Yanked[version] = reason
		}
		return nil
	})
	return r, err
}

// Deprecate marks all versions of a pack as deprecated, with a message that users see. An empty message removes the
// mark.
func (c *Client) Deprecate(ctx context.Context, pk, message, registry string) (*StatusReport, error) {
	if strings.Contains(pk, "@") {
		return nil, diag.Errorf(diag.Usage, "%q has a version, but deprecation applies to the whole pack", pk).
			WithHint("use the name of the pack, or yank the version with: skillpm yank %s --reason TEXT", pk)
	}
	id, err := pack.ParseID(pk)
	if err != nil {
		return nil, diag.Errorf(diag.Usage, "%v", err)
	}
	if err := checkReason("message", message); err != nil {
		return nil, err
	}
	r, store, err := c.statusOf(ctx, id, registry, "")
	if err != nil {
		return nil, err
	}
	r.Deprecated = message
	err = c.changeStatus(ctx, r, store, func(s *oci.Status) error {
		r.Changed = s.Deprecated != message
		s.Deprecated = message
		return nil
	})
	return r, err
}

// changeStatus updates the status of a pack. A change in a registry is recorded as a publication; an index is a local
// file, and its changes are not.
func (c *Client) changeStatus(ctx context.Context, r *StatusReport, store statusStore,
	f func(*oci.Status) error,
) error {
	registry, ok := store.(repository)
	if !ok {
		return store.change(ctx, f)
	}
	record := audit.Record{Pack: r.Pack, Version: r.Version, Reason: "list of yanked versions"}
	return c.RecordPublish(registry.ref, record, func() error { return store.change(ctx, f) })
}

// statusOf opens the status of a pack and checks that the version exists; any version for "".
func (c *Client) statusOf(ctx context.Context, id pack.ID, registry, version string) (*StatusReport, statusStore,
	error,
) {
	where, store, err := c.openStatus(registry, id)
	if err != nil {
		return nil, nil, err
	}
	var notes []string
	if registry, ok := store.(repository); ok {
		if notes, err = c.MayPublish(registry.ref, id.String(), true); err != nil {
			return nil, nil, err
		}
	}
	versions, err := store.versions(ctx)
	if err != nil && diag.CodeOf(err) != diag.NotFound {
		return nil, nil, err
	}
	if missing := err != nil || len(versions) == 0; missing || version != "" && !slices.Contains(versions, version) {
		e := diag.Errorf(diag.NotFound, "%s does not contain %s",
			where, strings.TrimSuffix(id.String()+"@"+version, "@"))
		switch {
		case !missing:
			hint := "available versions: " + strings.Join(versions[:min(len(versions), 10)], ", ")
			if registry == "" {
				hint += "; use --registry for another registry"
			}
			return nil, nil, e.WithHint("%s", hint)
		case registry == "":
			return nil, nil, e.WithHint("use --registry with oci://REGISTRY/NAMESPACE or the name of a configured registry")
		}
		return nil, nil, e
	}
	_, inIndex := store.(indexFile)
	return &StatusReport{Pack: id.String(), Reference: where, Index: inIndex, Warnings: notes}, store, nil
}

// checkReason checks a reason or message that users see.
func checkReason(what, text string) error {
	switch {
	case !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl):
		return diag.Errorf(diag.Usage, "the %s must be one line of text", what)
	case utf8.RuneCountInString(text) > maxReason:
		return diag.Errorf(diag.Usage, "the %s is longer than %d characters", what, maxReason)
	}
	return nil
}
