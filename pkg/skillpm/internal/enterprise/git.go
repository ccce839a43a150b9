package enterprise

import (
	"context"

	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/source/git"
	"github.com/skillpm/skillpm/pkg/source/trust"
)

// gitSource is a git repository. A release is a version tag that is signed with an SSH key.
type gitSource struct {
	ref      pack.Ref
	name     pack.ID
	git      *git.Client
	verifier *trust.Verifier
}

func (g gitSource) versions(ctx context.Context) ([]string, error) { return g.git.Versions(ctx, g.ref) }

func (g gitSource) resolve(ctx context.Context, version string) (string, error) {
	ref := g.ref
	ref.Constraint = version
	return g.git.Pin(ctx, ref)
}

func (g gitSource) open(ctx context.Context, version, resolved string, required trust.Requirement) (*release, error) {
	ref := g.ref
	ref.Digest = resolved
	signers, err := g.verifier.Signers(ctx, &pack.Pack{ID: g.name, Version: version, Ref: ref}, nil, required)
	if err != nil {
		return nil, err
	}
	tree, _, err := g.git.Tree(ctx, ref)
	if err != nil {
		return nil, err
	}
	return &release{
		source: sourceText(g.ref), name: g.name, version: version, resolved: resolved, signers: signers,
		read: func(name string) ([]byte, error) { return readFile(tree, name) },
	}, nil
}
