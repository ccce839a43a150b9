package oci

import (
	"context"

	"github.com/skillpm/skillpm/pkg/bundle"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/source"
)

// Formats in which packs are published.
const (
	FormatPack        = ""            // one manifest, whatever the number of skills
	FormatAgentSkills = "agentskills" // an index of one artifact a skill
	FormatFlux        = "flux"        // as flux-operator publishes skills
	FormatToolHive    = "toolhive"    // as ToolHive publishes skills
)

// PushOptions say how a release is published.
type PushOptions struct {
	Format    string   // one of the formats
	Moving    bool     // also move the tags 1.4, 1 and latest
	MountFrom []string // repositories ("oci://host/repository") of the same registry that may hold the layers already
	// Attach returns what is to be known about the release before its tag is there, such as its signatures. Their subject
	// is filled in.
	Attach func(ctx context.Context, subject Pushed, manifest []byte) ([]Artifact, error)
}

// Pushed says what publishing did, or would do.
type Pushed struct {
	Digest   string   // of the manifest, as a registry would lock it
	Existed  bool     // the same content was published before
	Manifest []byte   // of that digest
	Tags     []string // those that lead to it now and did not before
}

// Push publishes trees as a version of a pack at target, under the version as tag. A version that is there with the same
// content is left as it is; with other content it is a [ConflictError], and nothing is replaced.
func (c *Client) Push(ctx context.Context, target source.Ref, rel Release, trees []bundle.Tree, o PushOptions) (Pushed, error) {
	pushed, err := c.push(ctx, target, rel, trees, o)
	return pushed, c.secrets.Discreet(err)
}

// CheckPush makes the checks of [Client.Push] that only read: whether the version can be published, and whether it is there
// already, with other content or the same.
func (c *Client) CheckPush(ctx context.Context, target source.Ref, rel Release, trees []bundle.Tree, o PushOptions) (Pushed, error) {
	info, err := rel.info(trees)
	if err != nil {
		return Pushed{}, err
	}
	if target.Kind != source.KindOCI && target.ID.IsZero() {
		target.ID = rel.ID
	}
	to, err := c.open(ctx, target)
	if err != nil {
		return Pushed{}, c.secrets.Discreet(err)
	}
	pushed, err := published(ctx, to, target, rel, info)
	return pushed, c.secrets.Discreet(err)
}

func (c *Client) push(ctx context.Context, target source.Ref, rel Release, trees []bundle.Tree, o PushOptions) (Pushed, error) {
	info, err := rel.info(trees)
	if err != nil {
		return Pushed{}, err
	}
	if target.Kind != source.KindOCI && target.ID.IsZero() {
		target.ID = rel.ID
	}
	to, err := c.open(ctx, target)
	if err != nil {
		return Pushed{}, err
	}
	end, err := to.begin(ctx)
	if err != nil {
		return Pushed{}, err
	}
	defer end()
	if done, err := published(ctx, to, target, rel, info); err != nil || done.Existed {
		return done, err
	}
	p := &publisher{rel: rel, info: info, to: to, options: o}
	doc, err := p.write(ctx, trees)
	if err != nil {
		return Pushed{}, err
	}
	// A registry has no lock: of two that publish at once, the one whose tag was replaced must hear of it.
	now, err := to.document(ctx, rel.Version)
	if err != nil {
		return Pushed{}, err
	}
	if now.desc.Digest != doc.desc.Digest {
		return Pushed{}, &ConflictError{Pack: rel.ID, Version: rel.Version, Place: trimVersion(target), Digest: string(now.desc.Digest)}
	}
	return Pushed{Digest: string(doc.desc.Digest)}, nil
}

// published looks for the version at its target.
func published(ctx context.Context, to place, target source.Ref, rel Release, info packInfo) (Pushed, error) {
	doc, err := to.document(ctx, rel.Version)
	if diag.CodeOf(err) == diag.NotFound {
		return Pushed{}, nil
	}
	if err != nil {
		return Pushed{}, err
	}
	a, err := parseArtifact(doc)
	if err != nil || a.info == nil || a.info.encode() != info.encode() {
		return Pushed{}, &ConflictError{Pack: rel.ID, Version: rel.Version, Place: trimVersion(target), Digest: string(doc.desc.Digest)}
	}
	return Pushed{Digest: string(doc.desc.Digest), Existed: true}, nil
}
